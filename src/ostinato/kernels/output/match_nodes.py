"""What the nodes of partial matches have in common, however they are kept: an event, the element that it is bound to, and the node
before. Two matches are compared by them."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing

NOTHING = -1

# Columns of `nodes`
ORDINAL = 0  # of the event
BOUND_TO = 1  # the element
BEFORE = 2


@borrowing
def comes_before(nodes, one, other):
    """Earlier events first, compared one after the other; then the one whose earlier elements hold more. Both are walked backwards
    until they meet: the difference seen last is the first one. Where one goes on and the other does not yet, what follows is later
    than anything seen, so that the longer one comes first."""
    by_event = 0
    by_element = 0
    while one != other:
        here = -1 if one == NOTHING else nodes[one, ORDINAL]
        there = -1 if other == NOTHING else nodes[other, ORDINAL]
        if here == there:
            if nodes[one, BOUND_TO] != nodes[other, BOUND_TO]:
                by_element = -1 if nodes[one, BOUND_TO] < nodes[other, BOUND_TO] else 1
            one = nodes[one, BEFORE]
            other = nodes[other, BEFORE]
        elif here > there:
            by_event = -1
            one = nodes[one, BEFORE]
        else:
            by_event = 1
            other = nodes[other, BEFORE]
    return by_event < 0 if by_event != 0 else by_element < 0
