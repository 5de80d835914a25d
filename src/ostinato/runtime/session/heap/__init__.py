"""What strings and other large values are forgotten, which nothing refers to any more."""
