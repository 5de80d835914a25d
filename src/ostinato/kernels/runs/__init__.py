"""Kernels of the strategy "runs"."""
