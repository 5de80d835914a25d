"""A hash table from int64 to consecutive numbers, over plain arrays (open addressing, linear probing)."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import jit

MIN_SLOTS = 1 << 10


@jit("int64(int64[::1], int64, int64[::1], int64[::1], int64[::1], int64[::1])")
def number_values(values, first, slot_value, slot_number, by_number, out):
    """Number values[first:], adding the new ones; `by_number[number] = value`, and its last element holds the count. Returns how
    far it came before the table was half full."""
    mask = len(slot_value) - 1
    count = by_number[-1]
    limit = min(len(slot_value) // 2, len(by_number) - 1)
    last_value = np.int64(0)
    last_number = np.int64(-1)
    for i in range(first, len(values)):
        v = values[i]
        if last_number >= 0 and v == last_value:
            out[i] = last_number
            continue
        h = v * np.int64(-7046029254386353131)
        h ^= h >> np.int64(32)
        at = h & mask
        while slot_number[at] >= 0 and slot_value[at] != v:
            at = (at + 1) & mask
        number = slot_number[at]
        if number < 0:
            if count >= limit:
                by_number[-1] = count
                return i
            number = count
            slot_value[at] = v
            slot_number[at] = number
            by_number[number] = v
            count += 1
        out[i] = number
        last_value = v
        last_number = number
    by_number[-1] = count
    return len(values)


class Numbering:
    """Consecutive numbers for distinct int64 values, in order of first appearance; grows as needed."""

    def __init__(self, values: np.ndarray | None = None) -> None:
        self._reserved: list[int] = []
        self._allocate(MIN_SLOTS)
        if values is not None and len(values):
            self.number(values)

    def _allocate(self, slots: int) -> None:
        self._slot_value = np.zeros(slots, np.int64)
        self._slot_number = np.full(slots, -1, np.int64)
        self._by_number = np.zeros(slots // 2 + 1, np.int64)

    def __len__(self) -> int:
        return int(self._by_number[-1])

    @property
    def values(self) -> np.ndarray:
        """The value of every number."""
        return self._by_number[: len(self)]

    def number(self, values: np.ndarray) -> np.ndarray:
        values = np.require(values, np.int64, ["C", "W"])  # a read-only array would be a second type to compile for
        out = np.empty(len(values), np.int64)
        done = 0
        while True:
            done = number_values(values, done, self._slot_value, self._slot_number, self._by_number, out)
            if done == len(values):
                return out
            self._grow()

    def reserve(self) -> int:
        """The next number, for something that is no int64 value (null)."""
        if len(self) >= len(self._by_number) - 1:
            self._grow()
        number = len(self)
        self._by_number[number] = 0
        self._by_number[-1] += 1
        self._reserved.append(number)
        return number

    def _grow(self) -> None:
        known = self.values.copy()
        self._allocate(4 * len(self._slot_value))
        start = 0
        for reserved in [*self._reserved, len(known)]:
            part = known[start:reserved]
            number_values(part, 0, self._slot_value, self._slot_number, self._by_number, np.empty(len(part), np.int64))
            if reserved < len(known):
                self._by_number[-1] += 1
            start = reserved + 1
