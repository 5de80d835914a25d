"""Garbage among the nodes that runs share. Apart from the nodes themselves, since others read those and have no need of this."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import jit
from ostinato.kernels.output.match_nodes import BEFORE, BOUND_TO, NOTHING, ORDINAL
from ostinato.kernels.runs.run_nodes import LAST_NODE, LOWEST, NEWEST, OTHER, UNION
from ostinato.kernels.runs.run_table import ELEMENT, KEY, LIMIT, NODE, RESERVED

UNREACHED = np.iinfo(np.int64).max


@jit("int64(int64[:,::1], int64, int64[:,::1], int64[:,::1], int64, int64[:,::1], int64)")
def collect_nodes(runs, used, per_key, nodes, node_count, found, found_count):
    """Drop the nodes that no run and no waiting match reaches by a way that is not over; returns how many stay. `target` holds first
    the lowest start that is asked for at a node, then where the node has gone."""
    target = np.full(node_count, UNREACHED, np.int64)
    for run in range(RESERVED, used):
        if runs[run, ELEMENT] != NOTHING:
            target[runs[run, NODE]] = min(target[runs[run, NODE]], per_key[runs[run, KEY], LIMIT])
    for i in range(found_count):
        target[found[i, LAST_NODE]] = min(target[found[i, LAST_NODE]], found[i, LOWEST])
    for node in range(node_count - 1, -1, -1):
        lowest = target[node]
        if lowest != UNREACHED:
            before = nodes[node, BEFORE]
            if before != NOTHING:
                target[before] = min(target[before], lowest)
            if nodes[node, BOUND_TO] == UNION and nodes[node, OTHER] != NOTHING:
                other = nodes[node, OTHER]
                if nodes[other, NEWEST] >= lowest:
                    target[other] = min(target[other], lowest)
                else:
                    nodes[node, OTHER] = NOTHING
    kept = 0
    for node in range(node_count):
        if target[node] == UNREACHED:
            continue
        before = nodes[node, BEFORE]
        before = NOTHING if before == NOTHING else target[before]
        if nodes[node, BOUND_TO] == UNION and nodes[node, OTHER] == NOTHING:
            target[node] = before
            continue
        is_union = nodes[node, BOUND_TO] == UNION
        nodes[kept, ORDINAL] = target[nodes[node, OTHER]] if is_union else nodes[node, ORDINAL]
        nodes[kept, BOUND_TO] = nodes[node, BOUND_TO]
        nodes[kept, BEFORE] = before
        nodes[kept, NEWEST] = nodes[node, NEWEST]
        target[node] = kept
        kept += 1
    for run in range(RESERVED, used):
        if runs[run, ELEMENT] != NOTHING:
            runs[run, NODE] = target[runs[run, NODE]]
    for i in range(found_count):
        found[i, LAST_NODE] = target[found[i, LAST_NODE]]
    return kept
