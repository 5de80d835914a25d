"""Where the indexes of partitions are kept. They hold nothing that the rows do not say, so that they may be given up at any time."""

from __future__ import annotations

import numpy as np

from ostinato.kernels import search_index as index
from ostinato.kernels.thread_layout import INDEXED

MIN_BLOCKS = 1 << 8


class SearchStore:
    """`regions` has a line per partition; `lows` and `highs` a line per search column."""

    def __init__(self, columns: int) -> None:
        self.regions = np.empty((0, index.REGION_WIDTH), np.int64)
        self._make(columns, 0)

    def _make(self, columns: int, blocks: int) -> None:
        self.lows = np.empty((columns, blocks), np.int64)
        self.highs = np.empty((columns, blocks), np.int64)

    def ensure_keys(self, count: int) -> None:
        have = len(self.regions)
        if count > have:
            grown = np.full((max(count, 2 * have), index.REGION_WIDTH), -1, np.int64)
            grown[:have] = self.regions
            self.regions = grown

    def forget(self, control: np.ndarray) -> None:
        self.regions[:, index.PLACE] = -1
        control[INDEXED] = 0

    def make_room(self, needed: int, rows: int, control: np.ndarray) -> None:
        """For an index of `needed` blocks, where `rows` rows are held in all. Partitions that still want theirs build it again: half of
        the room must have been used since the last time, so that this costs a constant per row."""
        self.forget(control)
        wanted = max(MIN_BLOCKS, 2 * needed, (rows >> (index.SHIFT - 1)) + (rows >> index.SHIFT))
        if wanted > self.lows.shape[1]:
            self._make(len(self.lows), wanted)

    @property
    def bytes(self) -> int:
        return self.lows.nbytes + self.highs.nbytes + self.regions.nbytes
