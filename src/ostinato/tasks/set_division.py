"""How the rows of a set of queries may be divided in time: all queries together, so that rows are read once."""

from __future__ import annotations

from ostinato.program.analysis.look_around import look_around
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.intervals import IntervalPattern
from ostinato.program.pattern import Pattern
from ostinato.program.program import Program
from ostinato.tasks.division import division_of
from ostinato.tasks.ranges.deferred_numbers import numbers_matches


def why_not_in_time(program: Program) -> str | None:
    """What forbids to cut the rows of these queries in time, which read the same rows in the same order; None: nothing does."""
    for operator in program.operators:
        reason = _why_not(operator.body)
        if reason is not None:
            return f"{operator.name}: {reason}"
    return None


def _why_not(pattern: Pattern) -> str | None:
    reason = division_of(pattern).not_in_time
    if reason is not None:
        return reason
    if isinstance(pattern, InstanceAutomaton | IntervalPattern):
        return "events and situations that last would have to be followed from before the range, query by query"
    if pattern.output in ("count", "aggregates", "compressed"):
        return f"what {pattern.output} shows would have to be put together query by query"
    if numbers_matches(pattern):
        return "matches would have to be numbered query by query (MATCH_NUMBER)"
    look = look_around(pattern)
    if look.before or look.after:
        return "conditions or measures look at rows before or behind a match"
    return None


def window_of(program: Program) -> int:
    """The longest of all queries: so far beyond its range a task reads."""
    return max(operator.body.within for operator in program.operators)


def look_back_of(program: Program) -> int:
    return max(division_of(operator.body).look_back for operator in program.operators)
