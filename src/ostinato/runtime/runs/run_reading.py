"""Matches found by runs, read from the match DAG into flat arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ostinato.kernels.matches.match_counts import matches_of_runs
from ostinato.kernels.runs import run_matches as kernel
from ostinato.kernels.runs.run_matches import read_matches
from ostinato.runtime.matches.listing import Listing
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.matches.ordered_matches import ordered_matches
from ostinato.runtime.rows.array_growth import lengthened

COUNTED_FROM = 1 << 18  # events: arrays that are larger are made for what was counted
FIRST_DEPTH = 256


@dataclass
class _Room:
    stack: np.ndarray
    path: np.ndarray
    keys: np.ndarray
    offsets: np.ndarray
    ordinals: np.ndarray
    elements: np.ndarray

    @staticmethod
    def of(count: int, events: int) -> _Room:
        depth = FIRST_DEPTH
        return _Room(
            np.empty((depth, 2), np.int64), np.empty(depth, np.int64), np.empty(count + 2, np.int64), np.zeros(count + 2, np.int64),
            np.empty(events, np.int64), np.empty(events, np.uint8),
        )  # fmt: skip

    def grow(self, status: int) -> None:
        names = {
            kernel.STACK_FULL: ("stack", "path"),
            kernel.MATCHES_FULL: ("keys", "offsets"),
            kernel.EVENTS_FULL: ("ordinals", "elements"),
        }[status]
        for name in names:
            self._lengthen(name, 2 * len(getattr(self, name)))

    def fit(self, matches: int, events: int) -> None:
        """Make room for so many in all."""
        for name, wanted in (("keys", matches + 2), ("offsets", matches + 2), ("ordinals", events), ("elements", events)):
            self._lengthen(name, wanted)

    def _lengthen(self, name: str, wanted: int) -> None:
        setattr(self, name, lengthened(getattr(self, name), max(wanted, len(getattr(self, name)))))


class RunReading:
    """The matches that end with the nodes of `found`, per key, by completing event, then by the events selected."""

    def __init__(self, nodes: np.ndarray, found: np.ndarray, variable_of: np.ndarray, listing: Listing) -> None:
        self._nodes = nodes
        self._found = found
        self._variable_of = variable_of
        self._listing = listing
        self._control = np.zeros(kernel.CONTROL_CELLS, np.int64)

    def all(self) -> Matches:
        """More than fit into small arrays are counted before they are read."""
        count = len(self._found)
        self._listing.allow(count, count)
        cheap = max(COUNTED_FROM, self._listing.most_events // 4)
        room, is_counted = _Room.of(min(count, cheap), min(8 * count, cheap) + FIRST_DEPTH), False
        while (status := self._read(room)) != kernel.DONE:
            if len(room.ordinals) < COUNTED_FROM or is_counted:
                room.grow(status)
                continue
            is_counted = True
            matches, events = matches_of_runs(self._nodes, self._found, self._listing.most_events)
            self._listing.allow(matches, events)
            room.fit(matches, events)
        return self._taken(room)

    def parts(self) -> Iterator[Matches]:
        """Where all have to be gone through, more than a piece is counted before."""
        room = _Room.of(self._listing.part_events, self._listing.part_events)
        is_counted = not self._listing.looks
        while (status := self._read(room)) != kernel.DONE:
            if not is_counted:
                is_counted = True
                self._listing.look(*matches_of_runs(self._nodes, self._found, self._listing.most_looks))
            if not self._control[kernel.WRITTEN]:
                room.grow(status)  # a single match is that long
                continue
            yield self._taken(room, copied=True)
            self._control[[kernel.WRITTEN, kernel.PLACED]] = 0
        yield self._taken(room, copied=True)

    def _read(self, room: _Room) -> int:
        """As far as there is room."""
        while True:
            status = read_matches(
                self._nodes, self._found, len(self._found), self._control,
                room.stack, room.path, room.keys, room.offsets, room.ordinals, room.elements,
            )  # fmt: skip
            if status != kernel.STACK_FULL:
                return int(status)
            room.grow(status)

    def _taken(self, room: _Room, copied: bool = False) -> Matches:
        written, placed = int(self._control[kernel.WRITTEN]), int(self._control[kernel.PLACED])
        parts = (room.keys[:written], room.offsets[: written + 1], room.ordinals[:placed], room.elements[:placed])
        keys, offsets, ordinals, elements = (part.copy() for part in parts) if copied else parts
        return ordered_matches(keys, offsets, ordinals, elements, self._variable_of)
