"""Matches of situations: results as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ostinato.runtime.matches.finished_instances import FinishedInstances

BY_LINE = ("key", "start", "end", "registers", "register_valid", "detected")


@dataclass(frozen=True)
class FinishedIntervals(FinishedInstances):
    """Beside what instances have: when each was detected, and where its situations start, in the order of their definitions. The end of one
    that goes on is that of an open situation, see `kernels.intervals.interval_layout`."""

    detected: np.ndarray  # int64[m]
    starts: np.ndarray  # int64[d, m]

    def take(self, places: np.ndarray | slice) -> FinishedIntervals:
        of_lines = {name: getattr(self, name)[places] for name in BY_LINE}
        return FinishedIntervals(**of_lines, starts=self.starts[:, places])

    def with_keys(self, keys: np.ndarray) -> FinishedIntervals:
        """The same in partitions that are numbered otherwise."""
        return replace(self, key=keys[self.key])

    def arrays(self) -> tuple[np.ndarray, ...]:
        return *super().arrays(), self.detected, self.starts

    @classmethod
    def of(cls, parts: Sequence[FinishedIntervals]) -> FinishedIntervals:
        """In the order of detection; simultaneous ones by the numbers of their partitions, then by their starts."""
        whole = parts[0] if len(parts) == 1 else _put_together(parts)
        if not whole.ascends:
            whole = whole.take(np.lexsort((whole.key, whole.detected)))  # most of them ascend already, partition by partition
        return whole if whole.ascends else whole.take(np.lexsort((*whole.starts[::-1], whole.key, whole.detected)))

    @property
    def ascends(self) -> bool:
        """Whether they are in that order."""
        return _ascend((self.detected, self.key, *self.starts))


def _put_together(parts: Sequence[FinishedIntervals]) -> FinishedIntervals:
    of_lines = {name: np.concatenate([getattr(part, name) for part in parts]) for name in BY_LINE}
    return FinishedIntervals(**of_lines, starts=np.concatenate([part.starts for part in parts], axis=1))


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
