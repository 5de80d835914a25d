"""What is said of matches without listing them."""
