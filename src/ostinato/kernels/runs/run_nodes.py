"""The match DAG that runs share. A node is an event bound to an element, with its predecessor: runs that have a beginning in common
share it. Where equivalent runs were merged, a node is the union of two others. Every way back to a node without predecessor is a
partial match. What a node points to has a smaller number.

NEWEST is the latest start that a way back leads to, in the unit of the window: a branch whose starts are all over is cut off."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import inlined, jit
from ostinato.kernels.output.match_nodes import BEFORE, BOUND_TO, NOTHING, ORDINAL
from ostinato.kernels.runs.run_table import ELEMENT, KEY, LIMIT, NODE, NODES, RESERVED

# Columns of `nodes`, beside those that all nodes of matches have
NEWEST = 3
NODE_COLUMNS = 4

# A union is bound to UNION, and has another node instead of an event
OTHER = ORDINAL
UNION = -2

# Columns of `found`
LAST_NODE = 0
OF_KEY = 1
LOWEST = 2  # matches that start below this are over
FOUND_COLUMNS = 3

UNREACHED = np.iinfo(np.int64).max
ANY_START = np.iinfo(np.int64).min


@inlined
def add_node(nodes, header, ordinal, element, before, newest):
    node = header[NODES]
    nodes[node, ORDINAL] = ordinal
    nodes[node, BOUND_TO] = element
    nodes[node, BEFORE] = before
    nodes[node, NEWEST] = newest if before == NOTHING else nodes[before, NEWEST]
    header[NODES] = node + 1
    return node


@inlined
def add_union(nodes, header, one, other):
    """The one with the later start comes first: what is over stands at the end."""
    if nodes[one, NEWEST] < nodes[other, NEWEST]:
        one, other = other, one
    node = header[NODES]
    nodes[node, OTHER] = other
    nodes[node, BOUND_TO] = UNION
    nodes[node, BEFORE] = one
    nodes[node, NEWEST] = nodes[one, NEWEST]
    header[NODES] = node + 1
    return node


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
