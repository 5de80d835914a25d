"""Matches read from the graph of partial matches, piece by piece."""

from __future__ import annotations

import numpy as np

from ostinato.kernels import compact_matches as kernel
from ostinato.runtime.longer_arrays import lengthened
from ostinato.runtime.matches import Matches
from ostinato.runtime.ordered_matches import ordered_matches

FIRST_WALK = 256
FIRST_MATCHES = 1024
EVENTS_PER_MATCH = 4


class MatchList:
    """Collects the matches of one call, and hands them over in order."""

    def __init__(self, span: int, variables: np.ndarray) -> None:
        self._span = span
        self._variables = variables
        self._walk = np.zeros((FIRST_WALK, 2), np.int64)
        self._path = np.zeros(FIRST_WALK, np.int64)
        self._begin(FIRST_MATCHES, EVENTS_PER_MATCH * FIRST_MATCHES)

    def _begin(self, matches: int, events: int) -> None:
        self._progress = np.zeros(kernel.PROGRESS_CELLS, np.int64)
        self._keys, self._offsets = np.empty(matches, np.int64), np.zeros(matches + 1, np.int64)
        self._ordinals, self._components = np.empty(events, np.int64), np.empty(events, np.uint8)

    def list(self, nodes: np.ndarray, found: np.ndarray, count: int) -> int:
        """All matches that end with the nodes `found[:count]`; returns how many there are."""
        progress = self._progress
        progress[kernel.AT] = 0
        before = int(progress[kernel.MATCHES])
        while True:
            status = kernel.list_matches(
                nodes, found, count, self._span, self._walk, self._path, progress,
                self._keys, self._offsets, self._ordinals, self._components,
            )  # fmt: skip
            if status == kernel.DONE:
                return int(progress[kernel.MATCHES]) - before
            if status == kernel.WALK_FULL:
                self._walk, self._path = _grown(self._walk, len(self._walk)), _grown(self._path, len(self._path))
            else:
                self._make_room(len(self._keys) * (status == kernel.MATCHES_FULL), len(self._ordinals) * (status == kernel.EVENTS_FULL))

    def add_chosen(self, found: np.ndarray, chosen: np.ndarray) -> None:
        """Matches that were chosen one by one: `found` has their lengths and partitions, `chosen` their events, last ones first."""
        lengths, ends = found[:, 0], np.cumsum(found[:, 0])
        within = np.arange(len(chosen)) - np.repeat(ends - lengths, lengths)
        source = np.repeat(ends - 1, lengths) - within
        matches, events = int(self._progress[kernel.MATCHES]), int(self._progress[kernel.EVENTS])
        self._make_room(_shortage(self._keys, matches + len(found)), _shortage(self._ordinals, events + len(chosen)))
        self._keys[matches : matches + len(found)] = found[:, 1]
        self._offsets[matches + 1 : matches + len(found) + 1] = events + ends
        self._ordinals[events : events + len(chosen)] = chosen[source, 0]
        self._components[events : events + len(chosen)] = chosen[source, 1]
        self._progress[kernel.MATCHES] += len(found)
        self._progress[kernel.EVENTS] += len(chosen)

    def _make_room(self, matches: int, events: int) -> None:
        """At least as much more."""
        if matches:
            self._keys, self._offsets = _grown(self._keys, matches), _grown(self._offsets, matches)
        if events:
            self._ordinals, self._components = _grown(self._ordinals, events), _grown(self._components, events)

    def take(self) -> Matches:
        """Everything that was collected since the last time. The next time is taken to be like this one."""
        matches, events = int(self._progress[kernel.MATCHES]), int(self._progress[kernel.EVENTS])
        if not matches:
            return Matches.none()
        keys, offsets = self._keys[:matches], self._offsets[: matches + 1]
        ordinals, components = self._ordinals[:events], self._components[:events]
        self._begin(max(FIRST_MATCHES, 2 * matches), max(EVENTS_PER_MATCH * FIRST_MATCHES, events + events // 4))
        return ordered_matches(keys, offsets, ordinals, components, self._variables)


def _shortage(array: np.ndarray, needed: int) -> int:
    """By how much to lengthen it so that it holds `needed`: by nothing, or to twice as much, for pieces that go on coming."""
    return 0 if needed <= len(array) else 2 * needed - len(array)


def _grown(array: np.ndarray, more: int) -> np.ndarray:
    return lengthened(array, len(array) + more)
