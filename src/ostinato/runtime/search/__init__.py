"""Rows found by value instead of visited one by one."""
