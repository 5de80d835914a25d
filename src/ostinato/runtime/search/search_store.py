"""Where the indexes of partitions are kept. They hold nothing that the rows do not say, so that they may be given up at any time."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.search import search_index as index
from ostinato.kernels.search.search_links import FAN, LINKS, SHIFT
from ostinato.kernels.search.search_sorted import DEPTH
from ostinato.kernels.threads.thread_layout import INDEXED

MIN_BLOCKS = 1 << 8


class SearchStore:
    """`regions` has a line per partition; `lows` and `highs` a line per search column, `links` one per column of which equality is
    asked, `ordered` and `tries` one per column of which a band is asked. `columns` is the table of `kernels.search.search_index`."""

    def __init__(self, columns: np.ndarray) -> None:
        self.regions = np.empty((0, index.REGION_WIDTH), np.int64)
        self._columns = len(columns)
        self._linked = int((columns[:, index.LINKED] >= 0).sum())
        self._bands = int((columns[:, index.ORDERED] >= 0).sum())
        self._make(0)

    def _make(self, blocks: int) -> None:
        self.lows = np.empty((self._columns, blocks), np.int64)
        self.highs = np.empty((self._columns, blocks), np.int64)
        self.links = np.empty((self._linked, blocks * LINKS), np.int32)
        self.ordered = np.empty((self._bands, blocks * FAN * DEPTH), np.int64)  # takes no memory before it is written
        self.tries = np.empty((self._bands, blocks), np.int32)

    def ensure_keys(self, count: int) -> None:
        have = len(self.regions)
        if count > have:
            grown = np.full((max(count, 2 * have), index.REGION_WIDTH), -1, np.int64)
            grown[:have] = self.regions
            self.regions = grown

    def pass_over(self, keys: np.ndarray) -> None:
        """An index goes from row to row: behind rows that are left out, another one begins."""
        self.regions[keys, index.PLACE] = -1

    def forget(self, control: np.ndarray) -> None:
        self.regions[:, index.PLACE] = -1
        control[INDEXED] = 0

    def make_room(self, needed: int, rows: int, control: np.ndarray) -> None:
        """For an index of `needed` blocks, where `rows` rows are held in all. Partitions that still want theirs build it again: a good
        part of the room must have been used since the last time, so that this costs a constant per row."""
        self.forget(control)
        wanted = max(MIN_BLOCKS, needed, rows >> (SHIFT - 1))
        if wanted > self.lows.shape[1]:
            self._make(wanted)

    @property
    def bytes(self) -> int:
        return self.lows.nbytes + self.highs.nbytes + self.links.nbytes + self.ordered.nbytes + self.tries.nbytes + self.regions.nbytes
