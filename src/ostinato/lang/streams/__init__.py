"""Several streams, windows and several queries in one text: what languages of event patterns share, and none owns."""
