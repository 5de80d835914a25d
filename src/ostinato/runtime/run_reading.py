"""Matches found by runs, read from the match DAG into flat arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ostinato.base.errors import BudgetError
from ostinato.kernels import run_matches as kernel
from ostinato.kernels.run_matches import read_matches
from ostinato.runtime.matches import Matches
from ostinato.runtime.ordered_matches import ordered_matches

MOST_EVENTS = 1 << 28  # of all matches of one batch: beyond, reading them would take several GB
FIRST_DEPTH = 256


@dataclass
class _Room:
    stack: np.ndarray
    path: np.ndarray
    keys: np.ndarray
    offsets: np.ndarray
    ordinals: np.ndarray
    components: np.ndarray

    @staticmethod
    def for_matches(count: int) -> _Room:
        depth, events = FIRST_DEPTH, 8 * count + FIRST_DEPTH
        return _Room(
            np.empty((depth, 2), np.int64), np.empty(depth, np.int64), np.empty(count + 2, np.int64), np.zeros(count + 2, np.int64),
            np.empty(events, np.int64), np.empty(events, np.uint8),
        )  # fmt: skip

    def grow(self, status: int) -> None:
        names = {
            kernel.STACK_FULL: ("stack", "path"),
            kernel.MATCHES_FULL: ("keys", "offsets"),
            kernel.EVENTS_FULL: ("ordinals", "components"),
        }[status]
        for name in names:
            old = getattr(self, name)
            new = np.empty((2 * len(old), *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)


def matches_of(nodes: np.ndarray, found: np.ndarray, count: int, variable_of: np.ndarray, most: int = MOST_EVENTS) -> Matches:
    """Per key, by completing event, then by the events selected."""
    room, control = _Room.for_matches(count), np.zeros(kernel.CONTROL_CELLS, np.int64)
    while True:
        status = read_matches(nodes, found, count, control, room.stack, room.path, room.keys, room.offsets, room.ordinals, room.components)
        if status == kernel.DONE:
            break
        if status != kernel.STACK_FULL and control[kernel.PLACED] > most // 2:
            raise BudgetError(
                f"the matches of one batch select more than {most} events",
                hint="count or aggregate the matches instead (OUTPUT count), shorten WITHIN, add conditions, or push smaller batches",
            )
        room.grow(status)
    written, placed = int(control[kernel.WRITTEN]), int(control[kernel.PLACED])
    return ordered_matches(room.keys[:written], room.offsets[: written + 1], room.ordinals[:placed], room.components[:placed], variable_of)
