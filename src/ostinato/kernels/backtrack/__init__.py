"""Kernels of the strategy "backtrack"."""
