"""The parts of a printed program that belong to one kind of pattern."""
