"""The match DAG of the strategy "runs" as a graph of matches, without listing them."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.output.match_dag import BOUND_TO, EVENT, FIRST, GRAPH_COLUMNS, NEWEST, NOTHING, SECOND
from ostinato.kernels.runs import run_nodes as own
from ostinato.runtime.matches.match_dag import MatchDag, reduced


def dag_of(nodes: np.ndarray, found: np.ndarray, variable_of: np.ndarray, by_time: bool) -> MatchDag:
    """The matches that end with the nodes of `found`. `variable_of` says which one an element binds."""
    nodes = nodes[: int(found[:, own.LAST_NODE].max()) + 1]
    union = nodes[:, own.BOUND_TO] == own.UNION
    graph = np.full((len(nodes), GRAPH_COLUMNS), NOTHING, np.int64)
    graph[:, EVENT] = np.where(union, NOTHING, nodes[:, own.ORDINAL])
    graph[~union, BOUND_TO] = variable_of[nodes[~union, own.BOUND_TO]]
    graph[:, FIRST] = nodes[:, own.BEFORE]
    graph[:, SECOND] = np.where(union, nodes[:, own.OTHER], NOTHING)
    graph[:, NEWEST] = nodes[:, own.NEWEST]
    return reduced(graph, found[:, [own.LAST_NODE, own.OF_KEY, own.LOWEST]], by_time)
