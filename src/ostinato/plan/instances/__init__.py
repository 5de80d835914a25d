"""Expressions over streams of events that last, as automata whose instances carry values."""
