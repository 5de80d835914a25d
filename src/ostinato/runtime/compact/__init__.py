"""Strategy "compact": a fixed amount of work per event, matches in one graph."""
