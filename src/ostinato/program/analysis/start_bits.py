"""Rows that can begin a match are known by a predicate: without one of them, a partition in which nothing is begun stays as it is."""

from __future__ import annotations

from ostinato.program.analysis.carried_negations import uncarried
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.pattern import EventPattern, Pattern, RowPattern


def start_bits(pattern: Pattern) -> tuple[int, ...] | None:
    """A match begins with a row that has one of these bits. None: any row may begin one, or rows without them matter for another reason:
    they are shown, or noted for what must not come before or behind a match, or break the contiguity of all."""
    if pattern.look_ahead:
        return None
    if isinstance(pattern, EventPattern):
        if pattern.selection == "strict_contiguity" or uncarried(pattern).negations:
            return None
        bits = {pattern.elements[transition.target].first_bit for transition in pattern.initial}
    elif isinstance(pattern, RowPattern):
        if pattern.rows_per_match == "all, with unmatched rows" or pattern.timeouts:
            return None
        first = {
            variable for state in (pattern.nfa.start, pattern.nfa.start_of_partition) for variable, _ in pattern.nfa.transitions_of(state)
        }
        bits = {pattern.tests[variable].bit if variable >= 0 else -1 for variable in first}  # a match without rows begins anywhere
    elif isinstance(pattern, InstanceAutomaton):
        bits = {pattern.begin.bit}
    else:
        return None
    return None if -1 in bits else tuple(sorted(bits))
