"""Benchmarks: one module per experiment, each run by `python -m benchmarks.<name>`; results are generated, never typed in."""
