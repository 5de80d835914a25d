"""Variables of which a match has one row at most: the first of them is the last."""

from __future__ import annotations

from ostinato.program.ordered_nfa import OrderedNfa

MOST_TRANSITIONS = 200  # of an automaton that is looked through


def at_most_one(nfa: OrderedNfa, variables: tuple[int, ...]) -> bool:
    """Whether no way through the automaton takes two of these variables, or one of them twice; False if it is too large to tell."""
    if len(nfa.transitions) > MOST_TRANSITIONS:
        return False
    waiting = [target for variable, target in nfa.transitions if variable in variables]
    seen = set(waiting)
    while waiting:
        for variable, target in nfa.transitions_of(waiting.pop()):
            if variable in variables:
                return False
            if variable >= 0 and target not in seen:
                seen.add(target)
                waiting.append(target)
    return True
