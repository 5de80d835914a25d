"""Matches listed from the graph of partial matches, each at a cost that follows its length."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.compact.start_heaps import BEFORE, LEFT, NEWEST, NOTHING, ORDINAL, RIGHT, element_of

# Cells of `progress`: the next entry of `found`, matches and events listed so far, alternatives that wait in `walk`.
AT = 0
MATCHES = 1
EVENTS = 2
WAITING = 3
PROGRESS_CELLS = 4

# What `list_matches` returns
DONE = 0
MATCHES_FULL = 1
EVENTS_FULL = 2
WALK_FULL = 3


@inlined
def push_children(nodes, node, depth, earliest_start, walk, waiting):
    """Alternatives to `node` at the same place of the match, if they start late enough."""
    for link in (LEFT, RIGHT):
        child = nodes[node, link]
        if child != NOTHING and nodes[child, NEWEST] >= earliest_start:
            walk[waiting, 0] = child
            walk[waiting, 1] = depth
            waiting += 1
    return waiting


@borrowing(
    "int64(int64[:,::1], int64[:,::1], int64, int64, int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1])"
)
def list_matches(nodes, found, count, span, walk, path, progress, keys, offsets, ordinals, elements):
    """The matches of `found[progress[AT]:count]`. Anything but DONE leaves in `progress`, `walk` and `path` where to go on: with larger
    arrays, or with empty ones. `walk` holds (node, length of the path so far); NOTHING as node means that the path is complete."""
    while True:
        if progress[WAITING] == 0:
            if progress[AT] == count:
                return DONE
            path[0] = found[progress[AT], 0]
            walk[0, 0] = nodes[path[0], BEFORE]
            walk[0, 1] = 1
            progress[WAITING] = 1
            progress[AT] += 1
        at = progress[AT] - 1
        earliest_start = found[at, 2] - span
        waiting = progress[WAITING] - 1
        node = walk[waiting, 0]
        depth = walk[waiting, 1]
        while node != NOTHING:
            if depth >= len(path) or waiting + 3 > walk.shape[0]:
                walk[waiting, 0] = node
                walk[waiting, 1] = depth
                progress[WAITING] = waiting + 1
                return WALK_FULL
            path[depth] = node
            waiting = push_children(nodes, node, depth, earliest_start, walk, waiting)
            depth += 1
            node = nodes[node, BEFORE]
        matches, events = progress[MATCHES], progress[EVENTS]
        if matches >= len(keys) or events + depth > len(ordinals):
            walk[waiting, 0] = NOTHING
            walk[waiting, 1] = depth
            progress[WAITING] = waiting + 1
            return MATCHES_FULL if matches >= len(keys) else EVENTS_FULL
        keys[matches] = found[at, 1]
        for d in range(depth):
            ordinals[events + d] = nodes[path[depth - 1 - d], ORDINAL]
            elements[events + d] = element_of(nodes, path[depth - 1 - d])
        offsets[matches + 1] = events + depth
        progress[MATCHES] = matches + 1
        progress[EVENTS] = events + depth
        progress[WAITING] = waiting
