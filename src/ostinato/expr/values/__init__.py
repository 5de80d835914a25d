"""What expressions are worth, one value at a time: the definition."""
