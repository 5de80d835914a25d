"""Nested patterns: events linked by type and value, and the search over them."""
