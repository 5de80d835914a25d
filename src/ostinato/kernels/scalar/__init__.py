"""The interpreter of scalar code."""
