"""Matches as users see them: lists and graphs of them, measures, aggregates, rows."""
