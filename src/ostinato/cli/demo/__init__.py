"""The demonstration: a market feed, streamed and archived, matched live and again from the archive."""
