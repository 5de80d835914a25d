"""Variables whose rows lie side by side in every match, in one order: a match is known by where they end."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from ostinato.program.ordered_nfa import MOST_TRANSITIONS, OrderedNfa

MOST_VARIABLES = 16  # for more, the variable of every row is less to note than all of their ends


def stretch_order(nfa: OrderedNfa, variables: int) -> tuple[int, ...] | None:
    """The variables in an order in which every match has them, each at most once, with all its rows together; None if there is none, or
    nothing is gained by one."""
    if len(nfa.transitions) > MOST_TRANSITIONS or variables > MOST_VARIABLES:
        return None
    before: dict[int, set[int]] = {variable: set() for variable in range(variables)}
    for variable, target in nfa.transitions:
        for following, _ in nfa.transitions_of(target) if variable >= 0 else ():
            if following >= 0 and following != variable:
                before[following].add(variable)
    try:
        return tuple(TopologicalSorter(before).static_order())
    except CycleError:
        return None
