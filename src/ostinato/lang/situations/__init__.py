"""Definitions of situations, and what is asked of them: what TPStream and SQL share, and no language owns."""
