"""Matches of situations: results as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ostinato.runtime.matches.finished_instances import FinishedInstances


@dataclass(frozen=True)
class FinishedIntervals(FinishedInstances):
    """Beside what instances have: when each was detected, and where its situations start, in the order of their definitions. The end of one
    that goes on is that of an open situation, see `kernels.intervals.interval_layout`."""

    detected: np.ndarray  # int64[m]
    starts: np.ndarray  # int64[d, m]

    def take(self, places: np.ndarray | slice) -> FinishedIntervals:
        *others, starts = self.arrays()
        return FinishedIntervals(*(array[places] for array in others), starts[:, places])

    def with_keys(self, keys: np.ndarray) -> FinishedIntervals:
        """The same in partitions that are numbered otherwise."""
        return replace(self, key=keys[self.key])

    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.key, self.start, self.end, self.registers, self.register_valid, self.detected, self.starts

    @classmethod
    def of(cls, parts: Sequence[FinishedIntervals]) -> FinishedIntervals:
        """In the order of detection; simultaneous ones by the numbers of their partitions, then by their starts."""
        if len(parts) == 1:
            whole = parts[0]
        else:
            *others, starts = zip(*(part.arrays() for part in parts), strict=True)
            whole = cls(*(np.concatenate(column) for column in others), np.concatenate(starts, axis=1))
        if not whole.ascends:
            whole = whole.take(np.lexsort((whole.key, whole.detected)))  # most of them ascend already, partition by partition
        return whole if whole.ascends else whole.take(np.lexsort((*whole.starts[::-1], whole.key, whole.detected)))

    @property
    def ascends(self) -> bool:
        """Whether they are in that order."""
        return _ascend((self.detected, self.key, *self.starts))


def _ascend(columns: Sequence[np.ndarray]) -> bool:
    """Whether lines are in the order of the first column, then of the others."""
    first, *others = columns
    if (first[1:] < first[:-1]).any():
        return False
    tied = np.flatnonzero(first[1:] == first[:-1])
    for column in others:
        after, before = column[tied + 1], column[tied]
        if (after < before).any():
            return False
        tied = tied[after == before]
    return True
