"""The rows that a call brings, as the kernel goes through them: a stretch for each key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ostinato.kernels.intervals.interval_layout import NEVER
from ostinato.runtime.rows.pattern_rows import PatternRows


class RowArrays(NamedTuple):
    """What is read of rows, by several threads: columns that wait until they are asked for have been asked for."""

    bits: np.ndarray
    times: np.ndarray
    slots: np.ndarray
    slot_valid: np.ndarray

    @classmethod
    def of(cls, rows: PatternRows) -> RowArrays:
        bits = rows.bits
        return cls(bits if bits.itemsize == 1 else bits.view(np.int64), rows.times, rows.slots, rows.slot_valid)


@dataclass(frozen=True)
class KeyStretches:
    """The rows begin[i]..end[i] of keys[i], of which no more come with times before complete[i]."""

    keys: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    complete: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def lengths(self) -> np.ndarray:
        return self.end - self.begin

    @property
    def rows(self) -> int:
        return int(self.lengths.sum())

    def chosen(self, places: np.ndarray | slice) -> KeyStretches:
        return KeyStretches(self.keys[places], self.begin[places], self.end[places], self.complete[places])

    def numbered(self) -> KeyStretches:
        """The same where keys are numbered from 0 on."""
        return KeyStretches(np.arange(len(self)), self.begin, self.end, self.complete)

    def split(self, rows: int) -> tuple[KeyStretches, KeyStretches]:
        """The first so many rows, and the others. A key may be cut: the moment at which it is will be decided with its next row."""
        before = np.cumsum(self.lengths) - self.lengths
        middle = self.begin + np.clip(rows - before, 0, self.lengths)
        first, last = middle > self.begin, (middle < self.end) | (self.lengths == 0)
        complete = np.where(middle < self.end, NEVER, self.complete)
        head = KeyStretches(self.keys[first], self.begin[first], middle[first], complete[first])
        return head, KeyStretches(self.keys[last], middle[last], self.end[last], self.complete[last])

    def pieces(self, lengths: Sequence[int]) -> Iterator[KeyStretches]:
        """Pieces of so many rows each, which are all of them together."""
        rest = self
        for length in lengths[:-1]:
            piece, rest = rest.split(length)
            yield piece
        yield rest

    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.keys, self.begin, self.end, self.complete
