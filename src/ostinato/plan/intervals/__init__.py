"""Patterns of situations, as definitions over rows and constraints between intervals."""
