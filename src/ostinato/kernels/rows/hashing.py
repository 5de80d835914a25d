"""A hash table from int64 to consecutive numbers, over plain arrays (open addressing, linear probing)."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import jit
from ostinato.kernels.rows.read_only import borrowed

MIN_SLOTS = 1 << 10
MAX_DENSE = 1 << 22
UNKNOWN = -1
MARKED = -2


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


@jit("int64(int64[::1], int64, int32[::1], int64[::1])")
def new_values(values, low, dense, fresh):
    """Collect the values that `dense` (indexed by value - low) has no number for, in order of first appearance, and mark them."""
    count = 0
    for i in range(len(values)):
        if dense[values[i] - low] == UNKNOWN:
            dense[values[i] - low] = MARKED
            fresh[count] = values[i]
            count += 1
    return count


@jit("int64(int64[::1], int64, int64, int32[::1], int64[::1])")
def look_up(values, first, low, dense, out):
    """The numbers of values[first:]; returns how far it came before a value that has none."""
    size = np.uint64(len(dense))
    for i in range(first, len(values)):
        place = np.uint64(values[i] - low)
        if place >= size:
            return i
        number = dense[place]
        if number < 0:
            return i
        out[i] = number
    return len(values)


class Numbering:
    """Consecutive numbers for distinct int64 values, in order of first appearance; grows as needed. Values from a narrow range, as
    most integer keys are, go through an array indexed by value, which stays in the cache where a hash table would not."""

    def __init__(self, values: np.ndarray | None = None) -> None:
        self._reserved: list[int] = []
        self._low = 0
        self._dense = np.empty(0, np.int32)
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
        values = borrowed(np.ascontiguousarray(values, np.int64))
        out = np.empty(len(values), np.int64)
        known = look_up(values, 0, self._low, self._dense, out)
        if known < len(values):
            self._number_new(values[known:], out[known:])
        return out

    def _number_new(self, values: np.ndarray, out: np.ndarray) -> None:
        """Of values of which some may have no number yet."""
        if not self._narrow(int(values.min()), int(values.max()), len(values)):
            self._hashed(values, out)
            return
        fresh = np.empty(min(len(values), len(self._dense)), np.int64)
        count = new_values(values, self._low, self._dense, fresh)
        if count:
            numbers = np.empty(count, np.int64)
            self._hashed(fresh[:count], numbers)
            self._dense[fresh[:count] - self._low] = numbers
        look_up(values, 0, self._low, self._dense, out)

    def _narrow(self, low: int, high: int, count: int) -> bool:
        """Whether the array covers the range of the batch, after making it do so if that is worth while."""
        if self._low <= low and high < self._low + len(self._dense):
            return True
        if len(self._dense):
            low, high = min(low, self._low), max(high, self._low + len(self._dense) - 1)
        if high - low >= min(MAX_DENSE, 4 * (count + len(self)) + MIN_SLOTS):
            return False
        self._low, self._dense = low, np.full(2 * (high - low + 1), UNKNOWN, np.int32)
        known, numbers = self.values, np.arange(len(self))
        inside = (known >= low) & (known < low + len(self._dense))
        inside[self._reserved] = False
        self._dense[known[inside] - low] = numbers[inside]
        return True

    def _hashed(self, values: np.ndarray, out: np.ndarray) -> None:
        done = 0
        while True:
            done = number_values(values, done, self._slot_value, self._slot_number, self._by_number, out)
            if done == len(values):
                return
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
