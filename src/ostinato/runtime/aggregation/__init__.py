"""Matches counted, and values over them summed, without keeping any apart."""
