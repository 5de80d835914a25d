"""Patterns of situations: what lasts, kept per partition and definition, and joined as time goes on."""
