"""Matches listed from the graph of partial matches, each at a cost that follows its length."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.compact_nodes import BEFORE, LEFT, NEWEST, NOTHING, ORDINAL, RIGHT, component_of

# Cells of `progress`: the entry of `found` to go on with, matches and events listed so far.
AT = 0
MATCHES = 1
EVENTS = 2
PROGRESS_CELLS = 3

# What `list_matches` returns
DONE = 0
MATCHES_FULL = 1
EVENTS_FULL = 2
WALK_FULL = 3


@inlined
def push_children(nodes, node, depth, cut, walk, waiting):
    """Alternatives to `node` at the same place of the match, if they start late enough."""
    for link in (LEFT, RIGHT):
        child = nodes[node, link]
        if child != NOTHING and nodes[child, NEWEST] >= cut:
            walk[waiting, 0] = child
            walk[waiting, 1] = depth
            waiting += 1
    return waiting


@borrowing
def list_of(nodes, last, key, cut, walk, path, progress, keys, offsets, ordinals, components):
    """All matches that end with the node `last`. Nothing is kept of a list that is not finished."""
    matches, events = progress[MATCHES], progress[EVENTS]
    path[0] = last
    waiting = 0
    node = nodes[last, BEFORE]
    depth = 1
    while True:
        while node != NOTHING:
            if depth >= len(path) or waiting + 2 > walk.shape[0]:
                return WALK_FULL
            path[depth] = node
            waiting = push_children(nodes, node, depth, cut, walk, waiting)
            depth += 1
            node = nodes[node, BEFORE]
        if matches >= len(keys):
            return MATCHES_FULL
        if events + depth > len(ordinals):
            return EVENTS_FULL
        keys[matches] = key
        for d in range(depth):
            ordinals[events + d] = nodes[path[depth - 1 - d], ORDINAL]
            components[events + d] = component_of(nodes, path[depth - 1 - d])
        matches += 1
        events += depth
        offsets[matches] = events
        if waiting == 0:
            break
        waiting -= 1
        node = walk[waiting, 0]
        depth = walk[waiting, 1]
    progress[MATCHES] = matches
    progress[EVENTS] = events
    return DONE


@borrowing(
    "int64(int64[:,::1], int64[:,::1], int64, int64, int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1])"
)
def list_matches(nodes, found, count, span, walk, path, progress, keys, offsets, ordinals, components):
    """The matches of `found[progress[AT]:count]`. Anything but DONE leaves in `progress` where to go on with larger arrays."""
    while progress[AT] < count:
        at = progress[AT]
        status = list_of(nodes, found[at, 0], found[at, 1], found[at, 2] - span, walk, path, progress, keys, offsets, ordinals, components)
        if status != DONE:
            return status
        progress[AT] += 1
    return DONE
