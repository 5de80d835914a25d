"""Matches as another strategy finds them, less those in whose gaps negated events lie."""
