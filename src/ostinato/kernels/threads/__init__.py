"""Kernels of the strategy "threads"."""
