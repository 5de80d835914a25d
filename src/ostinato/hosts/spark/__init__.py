"""Ostinato on Apache Spark: batch DataFrames and Structured Streaming."""
