"""A hash table from int64 to consecutive numbers, over plain arrays (open addressing, linear probing)."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined, jit
from ostinato.kernels.rows.read_only import borrowed

MIN_SLOTS = 1 << 10
MAX_DENSE = 1 << 22
UNKNOWN = -1


@inlined
def slot_of(value, mask):
    h = value * np.int64(-7046029254386353131)
    h ^= h >> np.int64(32)
    return h & mask


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
        at = slot_of(v, mask)
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


@jit("void(int64[::1], int64[::1], int64[::1], int64[::1])")
def enter_values(by_number, numbers, slot_value, slot_number):
    """Put values that are not there into the table, with the numbers they have."""
    mask = len(slot_value) - 1
    for number in numbers:
        at = slot_of(by_number[number], mask)
        while slot_number[at] >= 0:
            at = (at + 1) & mask
        slot_value[at] = by_number[number]
        slot_number[at] = number


@jit("int64(int64[::1], int64, int64, int32[::1], int64[::1], int64[::1])")
def number_narrow(values, first, low, dense, by_number, out):
    """Number values[first:] by `dense`, indexed by value - low, adding the new ones. Returns how far it came before a value out of its
    range, or one for which `by_number` has no room."""
    size = np.uint64(len(dense))
    count, room = by_number[-1], len(by_number) - 1
    done = len(values)
    for i in range(first, len(values)):
        place = np.uint64(values[i] - low)
        if place >= size:
            done = i
            break
        number = np.int64(dense[place])
        if number < 0:
            if count == room:
                done = i
                break
            number = count
            dense[place] = number
            by_number[number] = values[i]
            count += 1
        out[i] = number
    by_number[-1] = count
    return done


@borrowing("void(int64[::1], int64[::1], int64[::1], int64[::1])")
def find_values(values, slot_value, slot_number, out):
    """The numbers of values, UNKNOWN of those that have none."""
    mask = len(slot_value) - 1
    for i in range(len(values)):
        v = values[i]
        at = slot_of(v, mask)
        while slot_number[at] >= 0 and slot_value[at] != v:
            at = (at + 1) & mask
        out[i] = slot_number[at]


class Numbering:
    """Consecutive numbers for distinct int64 values, in order of first appearance; grows as needed. Values from a narrow range, as
    most integer keys are, go through an array indexed by value, which stays in the cache where a hash table would not. The table has
    the first `_hashed` numbers: the others are put there when a value comes that is out of the range. The array has all that are in it."""

    def __init__(self, values: np.ndarray | None = None) -> None:
        self._reserved: list[int] = []
        self._low = 0
        self._dense = np.empty(0, np.int32)
        self._by_number = np.zeros(MIN_SLOTS // 2 + 1, np.int64)
        self._clear_table(MIN_SLOTS)
        if values is not None and len(values):
            self.number(values)

    def _clear_table(self, slots: int) -> None:
        self._slot_value = np.zeros(slots, np.int64)
        self._slot_number = np.full(slots, -1, np.int64)
        self._hashed = 0

    def __len__(self) -> int:
        return self._by_number.item(-1)

    @property
    def values(self) -> np.ndarray:
        """The value of every number."""
        return self._by_number[: len(self)]

    def number(self, values: np.ndarray) -> np.ndarray:
        values = borrowed(np.ascontiguousarray(values, np.int64))
        out = np.empty(len(values), np.int64)
        done = 0
        while True:
            done = number_narrow(values, done, self._low, self._dense, self._by_number, out)
            if done == len(values):
                return out
            if self._in_range(int(values[done])):
                self._make_room(len(self) + 1)
            elif not self._widen(values[done:]):
                self._number_by_table(values[done:], out[done:])
                return out

    def find(self, values: np.ndarray) -> np.ndarray:
        """The numbers of values that are there, UNKNOWN of others; none is added."""
        values = borrowed(np.ascontiguousarray(values, np.int64))
        self._bring_table_up_to_date()
        out = np.empty(len(values), np.int64)
        find_values(values, self._slot_value, self._slot_number, out)
        return out

    def _in_range(self, value: int) -> bool:
        return self._low <= value < self._low + len(self._dense)

    def _make_room(self, numbers: int) -> None:
        """The last element is how many there are."""
        if numbers >= len(self._by_number):
            count = len(self)
            self._by_number = np.concatenate([self._by_number[:-1], np.zeros(max(numbers, 2 * count) - count, np.int64), [count]])

    def _widen(self, values: np.ndarray) -> bool:
        """Make the array cover the range of these values, too, if that is worth while."""
        low, high = int(values.min()), int(values.max())
        if len(self._dense):
            low, high = min(low, self._low), max(high, self._low + len(self._dense) - 1)
        if high - low >= min(MAX_DENSE, 4 * (len(values) + len(self)) + MIN_SLOTS):
            return False
        self._low, self._dense = low, np.full(2 * (high - low + 1), UNKNOWN, np.int32)
        self._enter(0)
        return True

    def _enter(self, first: int) -> None:
        """Put the numbers from `first` on into the array, as far as their values are in its range."""
        known = self.values[first:]
        inside = (known >= self._low) & (known < self._low + len(self._dense))
        inside[[number - first for number in self._reserved if number >= first]] = False
        self._dense[known[inside] - self._low] = np.flatnonzero(inside) + first

    def _number_by_table(self, values: np.ndarray, out: np.ndarray) -> None:
        self._bring_table_up_to_date()
        before, done = len(self), 0
        while True:
            self._make_room(min(len(self._slot_value) // 2, len(self) + len(values)))
            done = number_values(values, done, self._slot_value, self._slot_number, self._by_number, out)
            self._hashed = len(self)
            if done == len(values):
                break
            self._clear_table(4 * len(self._slot_value))
            self._bring_table_up_to_date()
        self._enter(before)

    def _bring_table_up_to_date(self) -> None:
        if 4 * len(self) > len(self._slot_value):
            slots = len(self._slot_value)
            while slots < 4 * len(self):
                slots *= 4
            self._clear_table(slots)
        if self._hashed < len(self):
            numbers = np.arange(self._hashed, len(self))
            numbers = numbers[~np.isin(numbers, self._reserved)] if self._reserved else numbers
            enter_values(self._by_number, numbers, self._slot_value, self._slot_number)
            self._hashed = len(self)

    def reserve(self) -> int:
        """The next number, for something that is no int64 value (null)."""
        self._make_room(len(self) + 1)
        number = len(self)
        self._by_number[number] = 0
        self._by_number[-1] += 1
        self._reserved.append(number)
        return number
