"""Kernels that find rows by value."""
