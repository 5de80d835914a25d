"""The evaluations of nested patterns."""
