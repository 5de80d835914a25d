"""Matches read from the graph of partial matches, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ostinato.kernels.aggregation.aggregation_cells import FULL
from ostinato.kernels.compact import compact_matches as kernel
from ostinato.kernels.matches.match_counts import matches_of_heaps
from ostinato.runtime.matches.listing import Listing
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.matches.ordered_matches import ordered_matches
from ostinato.runtime.rows.array_growth import lengthened

FIRST_WALK = 256
FIRST_MATCHES = 1024
EVENTS_PER_MATCH = 4
COUNTED_FROM = 1 << 18  # events: arrays that are larger are made for what was counted


class MatchList:
    """Collects the matches of one call, and hands them over in order."""

    def __init__(self, span: int, variables: np.ndarray, listing: Listing) -> None:
        self._span = span
        self._variables = variables
        self._listing = listing
        self._walk = np.zeros((FIRST_WALK, 2), np.int64)
        self._path = np.zeros(FIRST_WALK, np.int64)
        self._begin(FIRST_MATCHES, EVENTS_PER_MATCH * FIRST_MATCHES)

    def _begin(self, matches: int, events: int) -> None:
        self._progress = np.zeros(kernel.PROGRESS_CELLS, np.int64)
        self._keys, self._offsets = np.empty(matches, np.int64), np.zeros(matches + 1, np.int64)
        self._ordinals, self._elements = np.empty(events, np.int64), np.empty(events, np.uint8)

    def list(self, nodes: np.ndarray, found: np.ndarray, count: int) -> int:
        """All matches that end with the nodes `found[:count]`; returns how many there are. More than fit into small arrays are
        counted before they are listed."""
        self._progress[kernel.AT] = 0
        before, is_counted = int(self._progress[kernel.MATCHES]), False
        while self._write(nodes, found, count) != kernel.DONE:
            matches, events = len(self._keys), len(self._ordinals)
            if events < COUNTED_FROM or is_counted:
                self._make_room(matches, events)
            else:
                is_counted = True
                wanted, placed = self._all(nodes, found, count)
                self._make_room(max(wanted - matches, matches // 2), max(placed - events, events // 2))  # more pieces may come
        return int(self._progress[kernel.MATCHES]) - before

    def parts(self, nodes: np.ndarray, found: np.ndarray, count: int) -> Iterator[Matches]:
        """The same, piece by piece; nothing else is listed in between. Where all have to be gone through, more than a piece is counted
        before."""
        room = self._listing.part_events
        self._begin(room, room)
        is_counted = not self._listing.looks
        while self._write(nodes, found, count) != kernel.DONE:
            if not is_counted:
                is_counted = True
                self._listing.look(*self._counted(nodes, found, count, self._listing.most_looks))
            if not self._progress[kernel.MATCHES]:
                self._make_room(0, len(self._ordinals))  # a single match is that long
            else:
                yield self._taken()
                self._progress[kernel.MATCHES] = self._progress[kernel.EVENTS] = 0
        if self._progress[kernel.MATCHES]:
            yield self._taken()
        self._begin(FIRST_MATCHES, EVENTS_PER_MATCH * FIRST_MATCHES)

    def _write(self, nodes: np.ndarray, found: np.ndarray, count: int) -> int:
        """As far as there is room."""
        while True:
            status = kernel.list_matches(
                nodes, found, count, self._span, self._walk, self._path, self._progress,
                self._keys, self._offsets, self._ordinals, self._elements,
            )  # fmt: skip
            if status != kernel.WALK_FULL:
                return int(status)
            self._walk, self._path = _grown(self._walk, len(self._walk)), _grown(self._path, len(self._path))

    def _all(self, nodes: np.ndarray, found: np.ndarray, count: int) -> tuple[int, int]:
        """How many matches and events there are with those listed already, if that is within the budget. Those of the event that is
        being listed count as if none were: an upper bound, and no more than twice what there is."""
        matches, events = self._counted(nodes, found, count, int(FULL))
        self._listing.allow(matches, events)
        return matches, events

    def _counted(self, nodes: np.ndarray, found: np.ndarray, count: int, most: int) -> tuple[int, int]:
        progress = self._progress
        matches, events = matches_of_heaps(nodes, found[int(progress[kernel.AT]) - 1 : count], self._span, most)
        return min(FULL, matches + int(progress[kernel.MATCHES])), min(FULL, events + int(progress[kernel.EVENTS]))

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
        self._elements[events : events + len(chosen)] = chosen[source, 1]
        self._progress[kernel.MATCHES] += len(found)
        self._progress[kernel.EVENTS] += len(chosen)

    def _make_room(self, matches: int, events: int) -> None:
        """At least as much more. One array after the other, so that no two are held twice at a time."""
        if matches:
            self._keys = _grown(self._keys, matches)
            self._offsets = _grown(self._offsets, matches)
        if events:
            self._ordinals = _grown(self._ordinals, events)
            self._elements = _grown(self._elements, events)

    def take(self) -> Matches:
        """Everything that was collected since the last time. The next time is taken to be like this one."""
        matches, events = int(self._progress[kernel.MATCHES]), int(self._progress[kernel.EVENTS])
        if not matches:
            return Matches.none()
        taken = self._taken(copied=False)
        next_events = min(events + events // 4, COUNTED_FROM)
        self._begin(min(max(FIRST_MATCHES, 2 * matches), next_events), max(EVENTS_PER_MATCH * FIRST_MATCHES, next_events))
        return taken

    def _taken(self, copied: bool = True) -> Matches:
        matches, events = int(self._progress[kernel.MATCHES]), int(self._progress[kernel.EVENTS])
        parts = (self._keys[:matches], self._offsets[: matches + 1], self._ordinals[:events], self._elements[:events])
        keys, offsets, ordinals, elements = (part.copy() for part in parts) if copied else parts
        return ordered_matches(keys, offsets, ordinals, elements, self._variables)


def _shortage(array: np.ndarray, needed: int) -> int:
    """By how much to lengthen it so that it holds `needed`: by nothing, or to twice as much, for pieces that go on coming."""
    return 0 if needed <= len(array) else 2 * needed - len(array)


def _grown(array: np.ndarray, more: int) -> np.ndarray:
    return lengthened(array, len(array) + more)
