"""How far behind its first row a match may reach, or a situation that is a result by itself."""

from __future__ import annotations

from ostinato.program.analysis.output_times import longest_situation
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.intervals import IntervalPattern
from ostinato.program.pattern import Pattern


def window_of(pattern: Pattern) -> int:
    """In the unit of the time column; -1: nothing says so. Of a chain of events what is said of the whole counts, and not of a part."""
    if isinstance(pattern, InstanceAutomaton):
        return pattern.states[-1].within if pattern.states else 0
    if isinstance(pattern, IntervalPattern) and pattern.each:
        return longest_situation(pattern)
    return pattern.within
