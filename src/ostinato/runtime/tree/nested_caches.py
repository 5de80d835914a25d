"""The matches of nested expressions that are kept, see `kernels.tree.tree_caches`. They follow from the rows: nothing is lost with them."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.tree import tree_layout as layout
from ostinato.kernels.tree.tree_caches import index_entries, order_intervals, purge
from ostinato.runtime.rows.array_growth import lengthened
from ostinato.runtime.rows.pattern_rows import PatternRows

FIRST_ENTRIES = 256
FIRST_RESULTS = 256
NO_TIME = -(1 << 62)


class NestedCaches:
    """`members` is how many events a result may have."""

    def __init__(self, members: int) -> None:
        self._members = members
        self._purge_at = FIRST_RESULTS
        self._begin()

    def _begin(self) -> None:
        self._entries = np.zeros((FIRST_ENTRIES, layout.ENTRY_WIDTH), np.int64)
        self._results = np.full((FIRST_RESULTS, layout.RESULT_EVENTS + self._members), layout.NOTHING, np.int64)
        self._index = np.full(2 * FIRST_ENTRIES, layout.NOTHING, np.int64)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self._index, self._entries, self._results

    @property
    def bytes(self) -> int:
        return self._index.nbytes + self._entries.nbytes + self._results.nbytes

    def intervals(self, control: np.ndarray) -> int:
        """How many entries are no lists of others."""
        forms = self._entries[: control[layout.ENTRIES], layout.FORM]
        return int(np.count_nonzero(forms != layout.LIST_OF_INTERVALS))

    def grow(self, control: np.ndarray) -> None:
        """There was no room for an entry or a result more."""
        if control[layout.RESULTS] >= len(self._results):
            more = np.full((2 * len(self._results), self._results.shape[1]), layout.NOTHING, np.int64)
            more[: len(self._results)] = self._results
            self._results = more
            return
        self._entries = lengthened(self._entries, 2 * len(self._entries))
        self._index_anew(int(control[layout.ENTRIES]))

    def _index_anew(self, entries: int) -> None:
        self._index = np.full(2 * len(self._entries), layout.NOTHING, np.int64)
        index_entries(self._index, self._entries, entries)

    def forget(self, control: np.ndarray, members: int) -> None:
        """Everything; `members` is how many events a result may have from now on."""
        self._members = members
        control[layout.RESULTS] = control[layout.ENTRIES] = 0
        self._begin()

    def purge(self, rows: PatternRows, needed: np.ndarray, control: np.ndarray) -> None:
        """Give up what lies before the rows that are needed of each key, when there is twice as much as was left the last time."""
        held = int(control[layout.RESULTS] + control[layout.ENTRIES])
        if held < self._purge_at:
            return
        keys = np.flatnonzero(rows.length[: len(needed)] > 0)
        times = np.full(len(needed), NO_TIME, np.int64)
        inside = keys[(needed[keys] >= rows.base[keys]) & (needed[keys] < rows.base[keys] + rows.length[keys])]
        times[inside] = rows.times[rows.index_of(inside, needed[inside])]
        entries, results = np.zeros_like(self._entries), np.full_like(self._results, layout.NOTHING)
        purge(self._entries, self._results, needed, times, rows.offset, rows.base, entries, results, control)
        self._entries, self._results = entries, results
        self._index_anew(int(control[layout.ENTRIES]))
        order_intervals(self._index, self._entries, control)
        self._purge_at = max(FIRST_RESULTS, 2 * int(control[layout.RESULTS] + control[layout.ENTRIES]))
