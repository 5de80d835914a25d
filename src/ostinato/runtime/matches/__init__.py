"""Matches as arrays: lists of them, graphs of them, and how they are listed within the budget."""
