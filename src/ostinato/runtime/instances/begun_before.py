"""Instances that one automaton hands on to another, which goes on with them."""

from __future__ import annotations

import numpy as np

from ostinato.runtime.matches.finished_instances import FinishedInstances, put_together

NO_NUMBERS = np.zeros(0, np.int64)


class BegunBefore:
    """What waits to be taken over: by keys, in the order of detection."""

    def __init__(self, registers: int) -> None:
        self._none = np.zeros((0, registers), np.int64), np.zeros((0, registers), np.uint8)
        self._waiting: list[FinishedInstances] = []
        self.arrays: tuple[np.ndarray, ...] = ()  # where those of each key begin and end, then their starts, ends and values

    def add(self, found: FinishedInstances) -> None:
        self._waiting.append(found)

    def look_at(self, keys: np.ndarray) -> None:
        """These keys are gone through now; nothing waits in others."""
        if not self._waiting:
            nothing = np.zeros(len(keys), np.int64)
            self.arrays = (nothing, nothing, NO_NUMBERS, NO_NUMBERS, *self._none)
            return
        found = put_together(self._waiting)
        found = found.take(np.lexsort((found.end, found.key)))
        first, behind = np.searchsorted(found.key, keys, "left"), np.searchsorted(found.key, keys, "right")
        assert int((behind - first).sum()) == len(found)
        self.arrays = (first, behind, found.start, found.end, found.registers, found.register_valid)

    def let_go(self) -> None:
        self._waiting = []
