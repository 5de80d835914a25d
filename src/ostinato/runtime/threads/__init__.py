"""Strategy "threads": preferred matches with conditions over the match."""
