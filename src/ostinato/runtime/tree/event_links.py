"""Events linked by type and value, see `kernels.tree.tree_links`. All of it follows from the rows, and is made anew where it is lost."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.tree import tree_advance as kernel
from ostinato.kernels.tree import tree_layout as layout
from ostinato.kernels.tree.tree_links import count_heads, move_heads
from ostinato.program.analysis.event_links import linked_columns
from ostinato.program.tree import TreePattern
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.tree.step_arrays import StepArrays

FIRST_HEADS = 1024
NOT_LINKED = -1
NO_LINKS = np.zeros((1, 1), np.int64)


class EventLinks:
    """`before` are, per key, the links of its last row; `linked` is the next row to link."""

    def __init__(self, pattern: TreePattern) -> None:
        self._tables = linked_columns(pattern)
        self._widths: dict[str, int] = {}
        self._link_bits, self._chains = np.zeros(0, np.int64), np.zeros((0, 3), np.int64)
        self.before = np.full((0, 0), NOT_LINKED, np.int64)
        self.linked = np.full(0, NOT_LINKED, np.int64)
        self.heads = self._no_heads(FIRST_HEADS)
        self._forgotten = False

    @property
    def bytes(self) -> int:
        return self.heads.nbytes + self.before.nbytes

    def links(self, rows: PatternRows) -> np.ndarray:
        return rows.mark("links") if "links" in self._tables else NO_LINKS

    def chains(self, rows: PatternRows) -> np.ndarray:
        return rows.mark("chains") if "chains" in self._tables else NO_LINKS

    def ensure_keys(self, count: int) -> None:
        known = len(self.linked)
        if count > known:
            self.linked, self.before = grown(self.linked, count), grown(self.before, count)
            self.linked[known:], self.before[known:] = NOT_LINKED, NOT_LINKED

    def change(self, arrays: StepArrays) -> None:
        """Other values are linked from now on."""
        widths = arrays.linked_columns
        alike = np.array_equal(arrays.chains, self._chains) and np.array_equal(arrays.link_bits, self._link_bits)
        if widths != self._widths or not alike:
            self._link_bits, self._chains, self._widths = arrays.link_bits, arrays.chains, widths
            self.before = np.empty((len(self.linked), widths["links"]), np.int64)
            self.forget()

    def forget(self) -> None:
        """Everything is linked again when it is needed."""
        self.linked[:] = NOT_LINKED
        self.before[:] = NOT_LINKED
        self._forgotten = True

    def let_go(self, rows: PatternRows) -> None:
        """Nothing is linked until somebody asks for it again, and rows have no room for links."""
        if self._widths:
            self.forget()
            for table in self._tables:
                rows.widen(table, 0)

    def link_again(self, rows: PatternRows, keys: np.ndarray, until: np.ndarray, control: np.ndarray) -> None:
        """The rows of these keys that were offered before, where they are not linked any more."""
        if self._forgotten:
            self.heads, control[layout.HEADS], self._forgotten = self._no_heads(FIRST_HEADS), 0, False
            for table in self._tables:
                rows.widen(table, self._widths[table])
        lost = keys[self.linked[keys] == NOT_LINKED]
        if not len(lost):
            return
        self.linked[lost] = rows.base[lost]
        lost = np.ascontiguousarray(lost, np.int64)
        control[layout.AT_KEY] = 0
        while kernel.link_again(
            lost, until[lost], rows.offset, rows.base, self.linked, rows.bits.view(np.int64), rows.slots, rows.slot_valid, self._link_bits,
            self._chains, self.before, self.links(rows), self.chains(rows), self.heads, control,
        ) != layout.DONE:  # fmt: skip
            self.grow(rows, control)

    def grow(self, rows: PatternRows, control: np.ndarray) -> None:
        """Room for more values; those of rows that are gone are given up."""
        kept = count_heads(self.heads, rows.base)
        size = FIRST_HEADS
        while size < 4 * (kept + len(self._chains) + 1):
            size *= 2
        old, self.heads = self.heads, self._no_heads(size)
        move_heads(old, self.heads, rows.base)
        control[layout.HEADS] = kept

    def _no_heads(self, size: int) -> np.ndarray:
        return np.zeros((size, layout.HEAD_EVENTS + len(self._chains)), np.int64)
