"""Which code can fail at some value, and which cannot, by the ranges of what it reads."""
