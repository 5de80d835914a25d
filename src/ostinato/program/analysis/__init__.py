"""What can be known of a pattern before any row comes: searches, joins, negations that are carried, long walks."""
