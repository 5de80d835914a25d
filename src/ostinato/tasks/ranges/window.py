"""How far behind its first row a match may reach."""

from __future__ import annotations

from ostinato.program.instances import InstanceAutomaton
from ostinato.program.pattern import Pattern


def window_of(pattern: Pattern) -> int:
    """In the unit of the time column; -1: nothing says so. Of a chain of events what is said of the whole counts, and not of a part."""
    if isinstance(pattern, InstanceAutomaton):
        return pattern.states[-1].within if pattern.states else 0
    return pattern.within
