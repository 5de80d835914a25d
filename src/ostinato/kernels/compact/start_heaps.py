"""All partial matches of a key in one small graph.

A node is an event bound to an element. `BEFORE` is the heap of the nodes that may stand before it in a match, NOTHING if the match
starts with it. `LEFT` and `RIGHT` make heaps of nodes: the partial matches whose last element is the same, newest start on top
(`NEWEST` is the latest start that is reached through the node, as a time or an ordinal). So a path from a node through BEFORE, at each
step by any node of the heap, is one partial match, and no two paths are the same match.

Under a window this order is what keeps listing quick: a heap whose top is too old is too old altogether, and below a top that is not,
every node that is looked at belongs to a match that is reported. Nodes never change what they stand for; children and BEFORE have
smaller numbers. The heaps are leftist, so that joining an older node copies a short path; nearly always the node that joins is the
newest and becomes the top in one step."""

from __future__ import annotations

from ostinato.kernels._jit import inlined

NOTHING = -1

# Columns of `nodes`
ORDINAL = 0
NEWEST = 1
BEFORE = 2
LEFT = 3
RIGHT = 4
KIND = 5  # the element, and the rank of the heap in units of RANK
NODE_COLUMNS = 6
RANK = 256

# Columns of `partitions`
ACTIVE = 0  # the elements that have partial matches, as a bit set
CLOCK = 1  # time or ordinal of the last event
LOW = 2  # no partial match needs a row before this ordinal
STEPS = 3  # events that did anything since there was no partial match: no match is longer
POSITION = 4  # of the last event in the stream
EPOCH = 5  # the time of the last row, where simultaneous events may not follow one another
PARTITION_COLUMNS = 6

MOST_COPIES = 80  # of nodes, when two heaps become one: their right spines, each of a leftist heap of 2**40 nodes at most


@inlined
def element_of(nodes, node):
    return nodes[node, KIND] % RANK


@inlined
def rank_of(nodes, node):
    return 0 if node == NOTHING else nodes[node, KIND] // RANK


@inlined
def put_node(nodes, node, ordinal, element, newest, before):
    nodes[node, ORDINAL] = ordinal
    nodes[node, NEWEST] = newest
    nodes[node, BEFORE] = before
    nodes[node, LEFT] = NOTHING
    nodes[node, RIGHT] = NOTHING
    nodes[node, KIND] = element + RANK


@inlined
def set_children(nodes, node, one, other):
    """The child of higher rank goes left."""
    swapped = rank_of(nodes, one) < rank_of(nodes, other)
    nodes[node, LEFT] = other if swapped else one
    nodes[node, RIGHT] = one if swapped else other
    nodes[node, KIND] = element_of(nodes, node) + RANK * (1 + rank_of(nodes, nodes[node, RIGHT]))


@inlined
def join(nodes, top, node, heap, spine):
    """The heap with a single node added; `top` is the first free node, `spine` scratch. Returns the new heap: `node` itself if it is
    the newest, else the last of the nodes that were copied, which are numbered from `top` on."""
    if nodes[heap, NEWEST] <= nodes[node, NEWEST]:
        nodes[node, LEFT] = heap
        return node
    depth = 0
    at = heap
    while at != NOTHING and nodes[at, NEWEST] > nodes[node, NEWEST]:
        spine[depth] = at
        depth += 1
        at = nodes[at, RIGHT]
    nodes[node, LEFT] = at
    below = node
    for d in range(depth - 1, -1, -1):
        put_node(nodes, top, nodes[spine[d], ORDINAL], element_of(nodes, spine[d]), nodes[spine[d], NEWEST], nodes[spine[d], BEFORE])
        set_children(nodes, top, nodes[spine[d], LEFT], below)
        below = top
        top += 1
    return below


@inlined
def meld(nodes, top, one, other, spine):
    """Two heaps as one; returns the first free node, and the heap."""
    depth = 0
    while one != NOTHING and other != NOTHING:
        if nodes[one, NEWEST] < nodes[other, NEWEST]:
            one, other = other, one
        spine[depth] = one
        depth += 1
        one = nodes[one, RIGHT]
    below = other if one == NOTHING else one
    for d in range(depth - 1, -1, -1):
        put_node(nodes, top, nodes[spine[d], ORDINAL], element_of(nodes, spine[d]), nodes[spine[d], NEWEST], nodes[spine[d], BEFORE])
        set_children(nodes, top, nodes[spine[d], LEFT], below)
        below = top
        top += 1
    return top, below
