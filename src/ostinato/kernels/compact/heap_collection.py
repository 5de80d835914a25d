"""Which partial matches of the heaps are still there: garbage is collected, starts are counted. Apart from the heaps themselves, since
others read those and have no need of this."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import jit
from ostinato.kernels.compact.start_heaps import (
    ACTIVE,
    BEFORE,
    LEFT,
    LOW,
    NEWEST,
    NOTHING,
    ORDINAL,
    RIGHT,
    element_of,
    put_node,
    set_children,
)


@jit("int64(int64[:,::1], int64, int32[:,::1], int64[:,::1], int64[::1], int64[::1])")
def collect(nodes, top, roots, partitions, earliest_starts, oldest):
    """Keep what partial matches reach that start at `earliest_starts[key]` or later; returns how many nodes that are. LOW and `oldest`
    receive the first start of each key, as ordinal and in the unit of `earliest_starts`."""
    owner = np.zeros(top, np.int64)
    for key in range(partitions.shape[0]):
        if partitions[key, ACTIVE] == 0:
            continue
        partitions[key, LOW] = oldest[key] = np.iinfo(np.int64).max
        for state in range(roots.shape[1]):
            if partitions[key, ACTIVE] >> state & 1:
                if nodes[roots[key, state], NEWEST] < earliest_starts[key]:
                    partitions[key, ACTIVE] &= ~(1 << state)
                else:
                    owner[roots[key, state]] = key + 1
    for node in range(top - 1, -1, -1):
        if owner[node]:
            for link in (BEFORE, LEFT, RIGHT):
                child = nodes[node, link]
                if child != NOTHING:
                    if nodes[child, NEWEST] < earliest_starts[owner[node] - 1]:
                        nodes[node, link] = NOTHING
                    else:
                        owner[child] = owner[node]
    return _move(nodes, owner, roots, partitions, oldest)


@jit
def _move(nodes, owner, roots, partitions, oldest):
    """Close the gaps between nodes that have an owner."""
    kept = 0
    for node in range(len(owner)):
        if owner[node]:
            key = owner[node] - 1
            before, left, right = nodes[node, BEFORE], nodes[node, LEFT], nodes[node, RIGHT]
            put_node(
                nodes, kept, nodes[node, ORDINAL], element_of(nodes, node), nodes[node, NEWEST], NOTHING if before < 0 else owner[before]
            )
            set_children(nodes, kept, NOTHING if left < 0 else owner[left], NOTHING if right < 0 else owner[right])
            if before == NOTHING:
                partitions[key, LOW] = min(partitions[key, LOW], nodes[kept, ORDINAL])
                oldest[key] = min(oldest[key], nodes[kept, NEWEST])
            owner[node] = kept
            kept += 1
    for key in range(partitions.shape[0]):
        if partitions[key, ACTIVE]:
            for state in range(roots.shape[1]):
                if partitions[key, ACTIVE] >> state & 1:
                    roots[key, state] = owner[roots[key, state]]
    return kept


@jit("int64(int64[:,::1], int64)")
def count_starts(nodes, top):
    found = 0
    for node in range(top):
        found += nodes[node, BEFORE] == NOTHING
    return found
