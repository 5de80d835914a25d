"""Strategy "runs": partial matches followed side by side."""
