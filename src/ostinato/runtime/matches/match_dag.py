"""Matches as a graph, for compressed output: what they have in common is there once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ostinato.kernels.output import match_dag as kernel
from ostinato.kernels.output.match_dag import BOUND_TO, EVENT, FIRST, GRAPH_COLUMNS, LOWEST, NEWEST, NOT_ASKED, NOTHING, OWNER, SECOND
from ostinato.runtime.matches.matches import Matches

ANY_START = np.iinfo(np.int64).min


@dataclass
class MatchDag:
    """A node is an event under a variable, with what may stand before it (nothing: the match starts here), or a union of two nodes;
    what it points to has a smaller number. Every way back from a root to a start is a match, and no two are the same; those that start
    below the root's `lowest` are over. Columns of `graph` in `kernels.output.match_dag`; `roots` are (node, partition, lowest)."""

    graph: np.ndarray
    roots: np.ndarray
    by_time: bool = False  # whether `lowest` and NEWEST are times, else ordinals

    def __len__(self) -> int:
        return len(self.roots)

    def followed_by(self, other: MatchDag) -> MatchDag:
        moved, roots = other.graph.copy(), other.roots.copy()
        for link in (FIRST, SECOND):
            moved[:, link] = np.where(moved[:, link] == NOTHING, NOTHING, moved[:, link] + len(self.graph))
        roots[:, 0] += len(self.graph)
        return MatchDag(np.concatenate([self.graph, moved]), np.concatenate([self.roots, roots]), self.by_time)


def reduced(graph: np.ndarray, roots: np.ndarray, by_time: bool) -> MatchDag:
    """What the roots need of a larger graph, which is changed by this."""
    graph[:, LOWEST] = NOT_ASKED
    np.minimum.at(graph[:, LOWEST], roots[:, 0], roots[:, 2])
    graph[roots[:, 0], OWNER] = roots[:, 1]
    target = np.empty(len(graph), np.int64)
    kept = kernel.reduce_graph(graph, target)
    roots = roots.copy()
    roots[:, 0] = target[roots[:, 0]]
    return MatchDag(graph[:kept].copy(), roots, by_time)


def of_matches(matches: Matches) -> MatchDag:
    """Of matches that were listed: those with a common beginning share it."""
    lengths = np.diff(matches.offsets)
    at = np.full(len(matches), NOTHING, np.int64)  # the node each match has reached
    parts: list[np.ndarray] = []
    made = 0
    for depth in range(int(lengths.max(initial=0))):
        on = np.flatnonzero(lengths > depth)
        place = matches.offsets[on] + depth
        step = np.stack([at[on], matches.key[on], matches.listed[place], matches.variables[place].astype(np.int64)], axis=1)
        different, which = np.unique(step, axis=0, return_inverse=True)
        level = np.full((len(different), GRAPH_COLUMNS), NOTHING, np.int64)
        level[:, FIRST], level[:, OWNER], level[:, EVENT], level[:, BOUND_TO] = different.T
        parts.append(level)
        at[on] = made + which.ravel()
        made += len(different)
    graph = np.concatenate(parts) if parts else np.empty((0, GRAPH_COLUMNS), np.int64)
    _set_starts(graph)
    return MatchDag(graph, np.stack([at, matches.key, np.full(len(at), ANY_START, np.int64)], axis=1))


def _set_starts(graph: np.ndarray) -> None:
    """NEWEST along chains without unions: that of the node before, level by level."""
    graph[:, LOWEST] = ANY_START
    front = np.flatnonzero(graph[:, FIRST] == NOTHING)
    graph[front, NEWEST] = graph[front, EVENT]
    waiting = np.flatnonzero(graph[:, FIRST] != NOTHING)
    known = graph[:, FIRST] == NOTHING
    while len(waiting):
        ready = known[graph[waiting, FIRST]]
        now = waiting[ready]
        graph[now, NEWEST] = graph[graph[now, FIRST], NEWEST]
        known[now] = True
        waiting = waiting[~ready]
