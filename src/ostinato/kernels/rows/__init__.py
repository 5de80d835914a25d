"""Kernels over rows: grouping by key, hashing, strings, symbols, times."""
