"""Programs that are equal up to their constants."""
