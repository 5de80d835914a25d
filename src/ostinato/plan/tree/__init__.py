"""Nested patterns to program."""
