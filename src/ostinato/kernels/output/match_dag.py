"""A graph of matches reduced to what some match needs."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import jit

NOTHING = -1
NOT_ASKED = np.iinfo(np.int64).max

# Columns of `graph`
EVENT = 0  # ordinal of the event, NOTHING for a union
BOUND_TO = 1  # the variable
FIRST = 2  # what stands before the event, or one part of a union
SECOND = 3  # the other part of a union
NEWEST = 4  # the latest start that is reached
LOWEST = 5  # the lowest start that a match through this node asks for
OWNER = 6  # the partition
GRAPH_COLUMNS = 7


@jit("int64(int64[:,::1], int64[::1])")
def reduce_graph(graph, target):
    """Keep the nodes from which LOWEST was asked for, and what they lead to by starts that are not below it; returns how many. What a node
    points to has a smaller number. A union of which one part is left gives way to that part; `target` receives where nodes have gone."""
    count = graph.shape[0]
    for node in range(count - 1, -1, -1):
        if graph[node, LOWEST] == NOT_ASKED:
            continue
        for link in (FIRST, SECOND):
            child = graph[node, link]
            if child != NOTHING:
                if graph[child, NEWEST] < graph[node, LOWEST]:
                    graph[node, link] = NOTHING
                else:
                    graph[child, LOWEST] = min(graph[child, LOWEST], graph[node, LOWEST])
                    graph[child, OWNER] = graph[node, OWNER]
    kept = 0
    for node in range(count):
        if graph[node, LOWEST] == NOT_ASKED:
            target[node] = NOTHING
            continue
        first = NOTHING if graph[node, FIRST] == NOTHING else target[graph[node, FIRST]]
        second = NOTHING if graph[node, SECOND] == NOTHING else target[graph[node, SECOND]]
        if graph[node, EVENT] == NOTHING and (first == NOTHING or second == NOTHING):
            target[node] = max(first, second)
            continue
        for column in range(GRAPH_COLUMNS):
            graph[kept, column] = graph[node, column]
        graph[kept, FIRST] = first
        graph[kept, SECOND] = second
        target[node] = kept
        kept += 1
    return kept
