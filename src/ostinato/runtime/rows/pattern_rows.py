"""Rows as one pattern sees them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ostinato.kernels.rows.key_regions import unread_rows
from ostinato.runtime.rows.arena import Arena
from ostinato.runtime.rows.keyed_rows import KeyedRows
from ostinato.runtime.rows.opaque_values import OpaqueValues

WORDS = np.dtype(np.uint64)
NO_SLOTS, NO_FLAGS = np.zeros((1, 0), np.int64), np.zeros((1, 0), np.uint8)


class PatternRows:
    """The rows of its input, which other patterns may share, with columns of its own beside them: `bits` and `slots` are what its row code
    computed, `marks` what its negations note at each row, `linked` tables that follow from the rest (`widen`). `label` tells these
    columns from those of the others."""

    def __init__(
        self,
        rows: KeyedRows,
        label: str,
        slots: int,
        marks: Sequence[str] = (),
        bits: np.dtype = WORDS,
        linked: Sequence[str] = (),
    ) -> None:
        self.shared = rows
        self.label = label
        self.slot_count = slots
        self._marks = (*marks, *linked)
        rows.arena.declare(label + "bits", bits)
        if slots:
            rows.arena.declare(label + "slots", np.int64, slots)
            rows.arena.declare(label + "slot_valid", np.uint8, slots)
        for mark in marks:
            rows.arena.declare(label + mark, np.int64)
        for name in linked:
            rows.arena.declare_derived(label + name, 0)

    def forget(self) -> None:
        """The pattern is gone, and so are its columns."""
        if self.label + "bits" not in self.shared.arena.valid:
            return
        own = ["bits", *(("slots", "slot_valid") if self.slot_count else ()), *self._marks]
        self.shared.arena.drop([self.label + name for name in own])

    @property
    def arena(self) -> Arena:
        return self.shared.arena

    @property
    def bits(self) -> np.ndarray:
        return self.shared.arena.column(self.label + "bits")

    @property
    def slots(self) -> np.ndarray:
        return self.shared.arena.column(self.label + "slots") if self.slot_count else NO_SLOTS

    @property
    def slot_valid(self) -> np.ndarray:
        return self.shared.arena.column(self.label + "slot_valid") if self.slot_count else NO_FLAGS

    def mark(self, name: str) -> np.ndarray:
        return self.shared.arena.column(self.label + name)

    def widen(self, name: str, width: int) -> None:
        """Let a table that follows from the rest have so many columns; what it held is lost if it had others."""
        if self.mark(name).shape[1] != width:
            self.shared.arena.drop([self.label + name])
            self.shared.arena.declare_derived(self.label + name, width)

    @property
    def times(self) -> np.ndarray:
        return self.shared.times

    @property
    def timed(self) -> bool:
        return self.shared.timed

    @property
    def positions(self) -> np.ndarray:
        return self.shared.positions

    @property
    def offset(self) -> np.ndarray:
        return self.shared.offset

    @property
    def base(self) -> np.ndarray:
        return self.shared.base

    @property
    def length(self) -> np.ndarray:
        return self.shared.length

    @property
    def key_count(self) -> int:
        return self.shared.key_count

    @property
    def opaque(self) -> dict[str, OpaqueValues]:
        return self.shared.opaque

    def heap(self, type_: pa.DataType) -> OpaqueValues:
        """The opaque values of a type; none where no column has them."""
        return next((heap for heap in self.shared.heaps if heap.type == type_), OpaqueValues(type_))

    def held_as(self, column: str) -> str:
        return self.shared.held_as(column)

    def index_of(self, keys: np.ndarray, ordinals: np.ndarray) -> np.ndarray:
        """Arena rows of these rows of these keys."""
        return self.offset[keys] + ordinals - self.base[keys]

    def unread(self, keys: np.ndarray, ready: np.ndarray, read: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """The rows of these keys up to `ready` that were not read (read[k]: how far key k was): the ordinal of the first, where it lies in
        the arena, where they end there, and how many they are of all keys."""
        ordinal, begin, end = np.empty((3, len(keys)), np.int64)
        rows = unread_rows(keys, np.ascontiguousarray(ready, np.int64), read, self.offset, self.base, ordinal, begin, end)
        return ordinal, begin, end, rows

    def windows(self, offset: np.ndarray, lengths: np.ndarray) -> PatternRows:
        """Stretches of the rows, each as a partition of its own."""
        return _Stretches(self, offset, lengths)


class _Stretches(PatternRows):
    def __init__(self, rows: PatternRows, offset: np.ndarray, lengths: np.ndarray) -> None:
        self.shared, self.label, self.slot_count = rows.shared, rows.label, rows.slot_count
        self._offset, self._base, self._length = offset, np.zeros(len(offset), np.int64), lengths

    @property
    def offset(self) -> np.ndarray:
        return self._offset

    @property
    def base(self) -> np.ndarray:
        return self._base

    @property
    def length(self) -> np.ndarray:
        return self._length

    @property
    def key_count(self) -> int:
        return len(self._offset)
