"""Automata whose instances carry values: kernels."""
