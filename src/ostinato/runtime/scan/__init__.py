"""Strategy "scan": preferred matches where every predicate is a bit of the row."""
