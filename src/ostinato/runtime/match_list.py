"""Matches read from the graph of partial matches, piece by piece."""

from __future__ import annotations

import numpy as np

from ostinato.kernels import compact_matches as kernel
from ostinato.runtime.matches import Matches
from ostinato.runtime.ordered_matches import ordered_matches

FIRST_WALK = 256
FIRST_MATCHES = 1024
EVENTS_PER_MATCH = 4

Piece = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # keys, lengths, ordinals, components


class MatchList:
    """Collects the matches of one call, and hands them over in order."""

    def __init__(self, span: int, variables: np.ndarray) -> None:
        self._span = span
        self._variables = variables
        self._walk = np.zeros((FIRST_WALK, 2), np.int64)
        self._path = np.zeros(FIRST_WALK, np.int64)
        self._pieces: list[Piece] = []

    def list(self, nodes: np.ndarray, found: np.ndarray, count: int) -> int:
        """All matches that end with the nodes `found[:count]`; returns how many there are."""
        progress = np.zeros(kernel.PROGRESS_CELLS, np.int64)
        room = max(FIRST_MATCHES, 2 * count)
        keys, offsets = np.empty(room, np.int64), np.zeros(room + 1, np.int64)
        ordinals, components = np.empty(EVENTS_PER_MATCH * room, np.int64), np.empty(EVENTS_PER_MATCH * room, np.int64)
        while True:
            status = kernel.list_matches(
                nodes, found, count, self._span, self._walk, self._path, progress, keys, offsets, ordinals, components
            )
            if status == kernel.DONE:
                break
            if status == kernel.OUTPUT_FULL:
                keys, offsets = np.resize(keys, 2 * len(keys)), np.resize(offsets, 2 * len(offsets))
                ordinals, components = np.resize(ordinals, 2 * len(ordinals)), np.resize(components, 2 * len(components))
            else:
                self._walk, self._path = np.resize(self._walk, (2 * len(self._walk), 2)), np.resize(self._path, 2 * len(self._path))
        matches, events = int(progress[kernel.MATCHES]), int(progress[kernel.EVENTS])
        self._pieces.append((keys[:matches], np.diff(offsets[: matches + 1]), ordinals[:events], components[:events]))
        return matches

    def add_chosen(self, found: np.ndarray, chosen: np.ndarray) -> None:
        """Matches that were chosen one by one: `found` has their lengths and partitions, `chosen` their events, last ones first."""
        lengths, ends = found[:, 0].copy(), np.cumsum(found[:, 0])
        within = np.arange(len(chosen)) - np.repeat(ends - lengths, lengths)
        source = np.repeat(ends - 1, lengths) - within
        self._pieces.append((found[:, 1].copy(), lengths, chosen[source, 0], chosen[source, 1]))

    def take(self) -> Matches:
        """Everything that was collected since the last time."""
        pieces, self._pieces = self._pieces, []
        if not pieces:
            return Matches.none()
        keys, lengths, ordinals, components = (np.concatenate(parts) if len(parts) > 1 else parts[0] for parts in zip(*pieces, strict=True))
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return ordered_matches(keys, offsets, ordinals, components, self._variables)
