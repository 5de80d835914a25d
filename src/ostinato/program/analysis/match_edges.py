"""Variables that are always at an edge of the match: the row is known by where the match begins or ends, whatever its other rows are."""

from __future__ import annotations

from functools import lru_cache

from ostinato.program.ordered_nfa import ACCEPT, ACCEPT_AT_END, MOST_TRANSITIONS, OrderedNfa


@lru_cache(256)
def always_first(nfa: OrderedNfa, variables: tuple[int, ...]) -> bool:
    """Whether every match that has rows begins with one of these variables."""
    starts = (nfa.start, nfa.start_of_partition)
    return all(variable in variables for state in starts for variable, _ in nfa.transitions_of(state) if variable >= 0)


@lru_cache(256)
def always_last(nfa: OrderedNfa, variables: tuple[int, ...]) -> bool:
    """Whether every match that has rows ends with one of these variables; False if the automaton is too large to tell."""
    if len(nfa.transitions) > MOST_TRANSITIONS:
        return False
    return all(variable in variables for variable, target in nfa.transitions if variable >= 0 and _accepts(nfa, target))


def _accepts(nfa: OrderedNfa, state: int) -> bool:
    return any(transition in (ACCEPT, ACCEPT_AT_END) for transition in nfa.transitions_of(state)[-1:])
