"""Batch DataFrames: Parquet in time ranges, sorted partitions by key, or one partition."""
