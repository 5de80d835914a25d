"""Streaming DataFrames: rows packed per bucket of keys, one session per bucket in Spark's state store."""
