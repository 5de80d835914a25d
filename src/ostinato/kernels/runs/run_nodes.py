"""The match DAG that runs share. A node is an event bound to an element, with its predecessor: runs that have a beginning in common
share it. Where equivalent runs were merged, a node is the union of two others. Every way back to a node without predecessor is a
partial match. What a node points to has a smaller number.

NEWEST is the latest start that a way back leads to, in the unit of the window: a branch whose starts are all over is cut off."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import inlined
from ostinato.kernels.output.match_nodes import BEFORE, BOUND_TO, NOTHING, ORDINAL
from ostinato.kernels.runs.run_table import NODES

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
