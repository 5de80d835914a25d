"""What patterns ask of single rows and their neighbours: over columns, once for several patterns, in batches by several threads."""
