"""Of all matches that an event completes the preferred one, without listing them."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing
from ostinato.kernels.compact.start_heaps import BEFORE, LEFT, NEWEST, NOTHING, ORDINAL, RIGHT, element_of

UNDECIDED = -2

# Columns of `best`: the node of the heap with which its preferred partial match ends; scratch for the walk.
BEST = 0
WALK = 1


@borrowing
def prefers(nodes, best, one, other):
    """Whether the partial match that ends with node `one` is preferred: earlier events first, compared one after the other, then the one
    whose earlier elements hold more. That is: at the first event that only one of them has, the one that has it. Both are walked
    backwards until they meet; the difference seen last is the first one."""
    by_event = 0
    by_element = 0
    while one != other:
        mine = -1 if one == NOTHING else nodes[one, ORDINAL]
        theirs = -1 if other == NOTHING else nodes[other, ORDINAL]
        if mine > theirs:
            by_event = 1
        elif mine < theirs:
            by_event = -1
        elif element_of(nodes, one) != element_of(nodes, other):
            by_element = 1 if element_of(nodes, one) < element_of(nodes, other) else -1
        if mine >= theirs:
            one = previous(nodes, best, one)
        if theirs >= mine:
            other = previous(nodes, best, other)
    return by_event > 0 if by_event != 0 else by_element > 0


@borrowing
def previous(nodes, best, node):
    return NOTHING if nodes[node, BEFORE] == NOTHING else best[nodes[node, BEFORE], BEST]


@borrowing
def undecided(nodes, best, node, earliest_start):
    """A heap that `node` refers to, is not too old, and has not been decided; NOTHING if there is none."""
    for link in (BEFORE, LEFT, RIGHT):
        child = nodes[node, link]
        if child != NOTHING and nodes[child, NEWEST] >= earliest_start and best[child, BEST] == UNDECIDED:
            return child
    return NOTHING


@borrowing
def decide(nodes, best, heap, earliest_start):
    """Find the preferred partial match of a heap and of all that it refers to. Every node is decided once: when a match is chosen, all
    partial matches are dropped, so that no later choice looks at it."""
    if heap == NOTHING or best[heap, BEST] != UNDECIDED:
        return
    depth = 1
    best[0, WALK] = heap
    while depth > 0:
        node = best[depth - 1, WALK]
        child = undecided(nodes, best, node, earliest_start)
        if child != NOTHING:
            best[depth, WALK] = child
            depth += 1
            continue
        found = node
        for link in (LEFT, RIGHT):
            child = nodes[node, link]
            if child != NOTHING and nodes[child, NEWEST] >= earliest_start and prefers(nodes, best, best[child, BEST], found):
                found = best[child, BEST]
        best[node, BEST] = found
        depth -= 1


@borrowing
def choose(nodes, found, first, end, best, chosen, at, earliest_start):
    """Write the preferred of the matches that end with the nodes `found[first:end]` to `chosen[at:]` (ordinal, element), last event
    first. Its length goes to `found[first]`, and is returned."""
    winner = found[first, 0]
    for i in range(first, end):
        decide(nodes, best, nodes[found[i, 0], BEFORE], earliest_start)
        if i > first and prefers(nodes, best, found[i, 0], winner):
            winner = found[i, 0]
    length = 0
    while winner != NOTHING:
        chosen[at + length, 0] = nodes[winner, ORDINAL]
        chosen[at + length, 1] = element_of(nodes, winner)
        length += 1
        winner = previous(nodes, best, winner)
    found[first, 0] = length
    return length
