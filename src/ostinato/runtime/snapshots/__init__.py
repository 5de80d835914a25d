"""The bytes of a snapshot, and how what they say is verified."""
