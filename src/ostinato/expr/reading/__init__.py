"""Expressions of all languages as text: tokens, parser, literals."""
