"""Automata whose instances carry values: they wait in states for events."""
