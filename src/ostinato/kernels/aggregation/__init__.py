"""Kernels that count and sum matches without listing them."""
