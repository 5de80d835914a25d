"""TPStream: situations, which last while a condition holds, and Allen's relations between them."""
