"""Indexes over queries."""
