"""NegatedEvent events that are known by their rows alone: where their latest occurrence begins, row by row."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.negation import negation_gaps as kernel
from ostinato.program.negation import Negation
from ostinato.program.pattern import EventPattern
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.storage import occurrence_column

FOLLOWING = {"strict_contiguity": kernel.IN_STREAM, "partition_contiguity": kernel.IN_PARTITION}


class Occurrences:
    """Fills the arena's column `occurs:N` for each static negation N, and looks into it."""

    def __init__(self, pattern: EventPattern) -> None:
        self._following = FOLLOWING.get(pattern.selection, kernel.SKIPPING)
        self._epoch = pattern.by_epoch
        self._masks = {number: _masks(negation) for number, negation in enumerate(pattern.negations) if negation.is_static}
        cells = [0, *(kernel.carried_cells(len(masks)) for masks in self._masks.values())]
        self._at = dict(zip(self._masks, np.cumsum(cells).tolist(), strict=False))
        self.carried = np.full((0, max(1, sum(cells))), -1, np.int64)

    def ensure_keys(self, count: int) -> None:
        if count > len(self.carried):
            self.carried = np.concatenate([self.carried, np.full((count - len(self.carried), self.carried.shape[1]), -1, np.int64)])

    def trace(self, rows: PatternRows, keys: np.ndarray, start: np.ndarray, ready: np.ndarray) -> None:
        """The rows with ordinals start[i]..ready[i] of each key are looked at."""
        begin = rows.index_of(keys, start)
        for number, masks in self._masks.items():
            kernel.trace(
                keys, begin, begin + np.maximum(ready - start, 0), start, rows.bits.view(np.int64), rows.times, rows.positions, masks,
                self._following, self._epoch, self.carried, self._at[number], rows.mark(occurrence_column(number)),
            )  # fmt: skip

    def inside(self, number: int, rows: PatternRows, keys: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Whether negation `number` is violated strictly between two ordinals of a key."""
        out = np.empty(len(keys), np.bool_)
        kernel.holds_occurrence(keys, low, high, rows.offset, rows.base, rows.mark(occurrence_column(number)), out)
        return out


def _masks(negation: Negation) -> np.ndarray:
    return np.array([0 if item.bit < 0 else 1 << item.bit for item in negation.items], np.uint64).view(np.int64)
