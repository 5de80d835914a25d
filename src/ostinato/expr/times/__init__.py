"""Moments and lengths of time to the nanosecond, and their texts."""
