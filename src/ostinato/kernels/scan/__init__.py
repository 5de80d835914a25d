"""Kernels of the strategy "scan"."""
