"""The session that hosts drive: what it is told, its limits, its snapshot."""
