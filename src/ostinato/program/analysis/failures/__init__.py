"""What of a program can fail, by the operations that it has and the values that they can get."""
