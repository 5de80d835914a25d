"""Matches found by runs, read from the match DAG into flat arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ostinato.base.errors import BudgetError
from ostinato.kernels import run_matches as kernel
from ostinato.kernels.run_matches import order_matches, read_matches
from ostinato.kernels.run_nodes import OF_KEY
from ostinato.runtime.matches import Matches

MOST_EVENTS = 1 << 28  # of all matches of one batch: beyond, reading them would take several GB
FIRST_DEPTH = 256


@dataclass
class _Room:
    stack: np.ndarray
    path: np.ndarray
    of: np.ndarray
    offsets: np.ndarray
    ordinals: np.ndarray
    components: np.ndarray

    @staticmethod
    def for_matches(count: int) -> _Room:
        depth, events = FIRST_DEPTH, 8 * count + FIRST_DEPTH
        return _Room(
            np.empty((depth, 2), np.int64), np.empty(depth, np.int64), np.empty(count + 1, np.int64), np.zeros(count + 2, np.int64),
            np.empty(events, np.int64), np.empty(events, np.int64),
        )  # fmt: skip

    def grow(self, status: int) -> None:
        names = {
            kernel.STACK_FULL: ("stack", "path"),
            kernel.MATCHES_FULL: ("of", "offsets"),
            kernel.EVENTS_FULL: ("ordinals", "components"),
        }[status]
        for name in names:
            old = getattr(self, name)
            new = np.empty((2 * len(old), *old.shape[1:]), np.int64)
            new[: len(old)] = old
            setattr(self, name, new)


def matches_of(nodes: np.ndarray, found: np.ndarray, count: int, variable_of: np.ndarray, most: int = MOST_EVENTS) -> Matches:
    """Per key, by completing event, then by the events selected."""
    room, control = _Room.for_matches(count), np.zeros(kernel.CONTROL_CELLS, np.int64)
    while True:
        status = read_matches(
            nodes, found, count, control, room.stack, room.path, room.of, room.offsets, room.ordinals, room.components
        )
        if status == kernel.DONE:
            break
        if status != kernel.STACK_FULL and control[kernel.PLACED] > most // 2:
            raise BudgetError(
                f"the matches of one batch select more than {most} events",
                hint="count or aggregate the matches instead (OUTPUT count), shorten WITHIN, add conditions, or push smaller batches",
            )
        room.grow(status)
    written, placed = int(control[kernel.WRITTEN]), int(control[kernel.PLACED])
    of, offsets = room.of[:written], room.offsets[: written + 1]
    return _ordered(found, of, offsets, room.ordinals[:placed], room.components[:placed], variable_of)


def _ordered(
    found: np.ndarray, of: np.ndarray, offsets: np.ndarray, ordinals: np.ndarray, components: np.ndarray, variable_of: np.ndarray
) -> Matches:
    order = np.arange(len(of))
    order_matches(found, of, len(of), offsets, ordinals, components, order)
    keys, variables = found[of, OF_KEY], variable_of[components]
    if (order[1:] > order[:-1]).all():
        return Matches(keys, ordinals[offsets[:-1]], offsets, variables, ordinals)
    lengths = np.diff(offsets)[order]
    moved = np.concatenate([[0], np.cumsum(lengths)])
    source = np.repeat(offsets[order] - moved[:-1], lengths) + np.arange(moved[-1])
    return Matches(keys[order], ordinals[offsets[order]], moved, variables[source], ordinals[source])
