"""Kernels of negation."""
