"""Automata that begin alike: what they have in common is followed once."""
