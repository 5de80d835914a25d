"""Kernels of the strategy "compact"."""
