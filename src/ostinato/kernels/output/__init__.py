"""Kernels over found matches."""
