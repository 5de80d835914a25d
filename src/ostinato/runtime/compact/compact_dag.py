"""The graph of partial matches of the strategy "compact" as a graph of matches, without listing them."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.compact import start_heaps as own
from ostinato.kernels.output.match_dag import BOUND_TO, EVENT, FIRST, GRAPH_COLUMNS, NEWEST, NOTHING, SECOND
from ostinato.runtime.matches.match_dag import ANY_START, MatchDag, reduced

PARTS = 3  # an event, what else may stand in its place, and both


class DagList:
    """Collects the matches of one call, as `match_list.MatchList` does, but as a graph."""

    def __init__(self, span: int, variables: np.ndarray, by_time: bool, windowed: bool) -> None:
        self._span = span
        self._variables = variables
        self._by_time = by_time
        self._windowed = windowed
        self._found: MatchDag | None = None

    def list(self, nodes: np.ndarray, found: np.ndarray, count: int) -> int:
        """The matches that end with the nodes `found[:count]`; returns how many events complete one."""
        roots = found[:count].copy()
        used = int(roots[:, 0].max()) + 1
        roots[:, 0] *= PARTS
        roots[:, 2] = roots[:, 2] - self._span if self._windowed else ANY_START
        dag = reduced(self._graph(nodes[:used]), roots, self._by_time)
        self._found = dag if self._found is None else self._found.followed_by(dag)
        return count

    def take(self) -> MatchDag:
        found, self._found = self._found, None
        return MatchDag(np.empty((0, GRAPH_COLUMNS), np.int64), np.empty((0, 3), np.int64)) if found is None else found

    def _graph(self, nodes: np.ndarray) -> np.ndarray:
        """Three nodes for each: of the event itself, of its heap without it, of its heap."""
        graph = np.full((len(nodes), PARTS, GRAPH_COLUMNS), NOTHING, np.int64)
        left, right, before = nodes[:, own.LEFT], nodes[:, own.RIGHT], nodes[:, own.BEFORE]
        event, rest, heap = graph[:, 0], graph[:, 1], graph[:, 2]
        event[:, EVENT] = nodes[:, own.ORDINAL]
        event[:, BOUND_TO] = self._variables[nodes[:, own.KIND] % own.RANK]
        event[:, FIRST] = _heap(before)
        event[:, NEWEST] = heap[:, NEWEST] = nodes[:, own.NEWEST]
        rest[:, FIRST], rest[:, SECOND] = _heap(left), _heap(right)
        newest = np.append(nodes[:, own.NEWEST], ANY_START)  # the last one is that of nothing
        rest[:, NEWEST] = np.maximum(newest[left], newest[right])
        number = PARTS * np.arange(len(nodes))
        heap[:, FIRST] = number
        heap[:, SECOND] = np.where((left == NOTHING) & (right == NOTHING), NOTHING, number + 1)
        return graph.reshape(-1, GRAPH_COLUMNS)


def _heap(nodes: np.ndarray) -> np.ndarray:
    return np.where(nodes == NOTHING, NOTHING, PARTS * nodes + 2)
