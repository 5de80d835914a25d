"""Parquet files as an archive of events: row groups, their times, rows in order."""
