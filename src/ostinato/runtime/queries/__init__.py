"""Queries of one shape: their constants, and an index over them."""
