"""Instances that have come to their end: results as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FinishedInstances:
    """Per instance its partition, its start, the time at which its last event was detected, and its registers with their flags."""

    key: np.ndarray  # int64[m]
    start: np.ndarray  # int64[m]
    end: np.ndarray  # int64[m]
    registers: np.ndarray  # int64[m, r]
    register_valid: np.ndarray  # uint8[m, r]

    def __len__(self) -> int:
        return len(self.key)

    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.key, self.start, self.end, self.registers, self.register_valid

    def take(self, places: np.ndarray | slice) -> FinishedInstances:
        return FinishedInstances(*(array[places] for array in self.arrays()))

    def in_order(self) -> FinishedInstances:
        """By detection; simultaneous ones in any order."""
        return self if (self.end[1:] >= self.end[:-1]).all() else self.take(np.argsort(self.end, kind="stable"))


def put_together(parts: Sequence[FinishedInstances]) -> FinishedInstances:
    if len(parts) == 1:
        return parts[0]
    columns = zip(*(part.arrays() for part in parts), strict=True)
    return FinishedInstances(*(np.concatenate(column) for column in columns))
