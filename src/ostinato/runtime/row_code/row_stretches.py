"""Which rows are evaluated: a stretch per partition, with neighbours before it; cut into batches of any size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ostinato.kernels.rows.key_regions import LINES, SOURCE, TARGET, WANTED, stretches_around, total
from ostinato.runtime.rows.pattern_rows import PatternRows


def batches(keys: np.ndarray, start: np.ndarray, end: np.ndarray, size: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The rows with ordinals start[i]..end[i] of keys, so many at a time; a key may go on in the next batch."""
    lengths = np.maximum(end - start, 0)
    ends = np.cumsum(lengths)
    begins = ends - lengths
    for low in range(0, int(ends[-1]) if len(ends) else 0, size):
        own = slice(int(np.searchsorted(ends, low, "right")), int(np.searchsorted(begins, low + size)))
        first, last = np.maximum(low - begins[own], 0), np.minimum(low + size - begins[own], lengths[own])
        yield keys[own], start[own] + first, start[own] + last


@dataclass(frozen=True)
class RowStretches:
    """`target`: where the rows begin that are asked for, in the arena, and `wanted`, how many they are; `before`: so many rows in front of
    these belong to the same partition and are there. `back`: how many of them are looked at."""

    target: np.ndarray
    wanted: np.ndarray
    before: np.ndarray
    back: int

    @staticmethod
    def of(rows: PatternRows, keys: np.ndarray, start: np.ndarray, end: np.ndarray, back: int) -> RowStretches:
        """The rows with ordinals start[i]..end[i] of each key; what is behind them is never looked at."""
        found, begin = np.empty((LINES, len(keys)), np.int64), np.empty(len(keys) + 1, np.int64)
        count = stretches_around(keys, start, end, rows.offset, rows.base, rows.length, back, 0, found, begin)
        target, wanted, before = found[TARGET, :count], found[WANTED, :count], found[SOURCE, :count] - begin[:count]
        return RowStretches(target, wanted, np.minimum(before, back), back)

    @cached_property
    def rows(self) -> int:
        return total(self.wanted)

    def cut(self, size: int) -> Iterator[RowStretches]:
        """The same rows in batches of so many; a partition may go on in the next."""
        if self.rows <= size:
            yield self
            return
        ends = np.cumsum(self.wanted)
        begins = ends - self.wanted
        for low in range(0, self.rows, size):
            high = low + size
            own = slice(int(np.searchsorted(ends, low, "right")), int(np.searchsorted(begins, high)))
            first = np.maximum(low - begins[own], 0)
            last = np.minimum(high - begins[own], self.wanted[own])
            yield RowStretches(self.target[own] + first, last - first, np.minimum(self.before[own] + first, self.back), self.back)
