"""A hash table from strings to consecutive codes, over plain arrays. Strings lie as Arrow has them: bytes one behind the other, and
the offsets at which they begin. What a batch costs does not depend on how many strings are known already."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import inlined, jit

NO_CODE = -1
HASH, CODE = 0, 1  # columns of `slots`: side by side, so that looking at one string is one look into memory
FIRST_SLOTS = 1 << 8
FIRST_BYTES = 1 << 10


@inlined
def hash_of(data, begin, end):
    """FNV-1a, with its upper bits folded in because slots are chosen by the lower ones."""
    h = np.uint64(14695981039346656037)
    for i in range(begin, end):
        h = (h ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return np.int64(h ^ (h >> np.uint64(32)))


@inlined
def same(data, begin, end, other_data, other_begin, other_end):
    length = end - begin
    at = 0 if length == other_end - other_begin else -1
    while 0 <= at < length and data[begin + at] == other_data[other_begin + at]:
        at += 1
    return at == length


@jit("int64(int64[::1], uint8[::1], boolean[::1], int64, int64[:, ::1], int64[::1], uint8[::1], int64, int64[::1])")
def code_strings(offsets, data, valid, first, slots, known_offsets, known_data, count, out):
    """The codes of the strings from `first` on (`valid` is empty where none is null), new ones added behind the `count` known ones.
    Returns how far it came before there was no room, and how many are known then is in the last of `out`."""
    mask = len(slots) - 1
    at = first
    while at < len(offsets) - 1:
        if len(valid) > 0 and not valid[at]:
            out[at] = NO_CODE
            at += 1
            continue
        begin, end = offsets[at], offsets[at + 1]
        h = hash_of(data, begin, end)
        slot = h & mask
        while slots[slot, CODE] >= 0:
            if slots[slot, HASH] == h:
                code = slots[slot, CODE]
                if same(data, begin, end, known_data, known_offsets[code], known_offsets[code + 1]):
                    break
            slot = (slot + 1) & mask
        if slots[slot, CODE] < 0:
            used = known_offsets[count]
            if count == len(known_offsets) - 1 or used + end - begin > len(known_data):
                break
            for i in range(end - begin):
                known_data[used + i] = data[begin + i]
            known_offsets[count + 1] = used + end - begin
            slots[slot, HASH] = h
            slots[slot, CODE] = count
            count += 1
        out[at] = slots[slot, CODE]
        at += 1
    out[-1] = count
    return at


@jit("void(int64[:, ::1], int64[:, ::1])")
def place_again(old, slots):
    """Into more slots, all empty."""
    mask = len(slots) - 1
    for i in range(len(old)):
        if old[i, CODE] >= 0:
            slot = old[i, HASH] & mask
            while slots[slot, CODE] >= 0:
                slot = (slot + 1) & mask
            slots[slot, HASH] = old[i, HASH]
            slots[slot, CODE] = old[i, CODE]


class StringTable:
    """Grows as needed; arrays that were handed out stay as they are, because strings are only ever added behind the others."""

    def __init__(self) -> None:
        self.count = 0
        self._offsets = np.zeros(FIRST_SLOTS // 2 + 1, np.int64)
        self._data = np.zeros(FIRST_BYTES, np.uint8)
        self._slots = np.full((FIRST_SLOTS, 2), NO_CODE, np.int64)

    @property
    def offsets(self) -> np.ndarray:
        return self._offsets[: self.count + 1]

    @property
    def data(self) -> np.ndarray:
        return self._data[: self._offsets[self.count]]

    def codes(self, offsets: np.ndarray, data: np.ndarray, valid: np.ndarray) -> np.ndarray:
        """The code of every string, -1 where it is not valid; new strings are added."""
        out = np.empty(len(offsets), np.int64)
        done = 0
        while True:
            done = code_strings(offsets, data, valid, done, self._slots, self._offsets, self._data, self.count, out)
            self.count = int(out[-1])
            if done == len(offsets) - 1:
                return out[:-1]
            self._grow(int(offsets[done + 1] - offsets[done]))

    def _grow(self, length: int) -> None:
        """Room for at least one string more, of that many bytes."""
        if self.count == len(self._offsets) - 1:
            old, self._slots = self._slots, np.full((4 * len(self._slots), 2), NO_CODE, np.int64)
            place_again(old, self._slots)
            self._offsets = _lengthened(self._offsets, len(self._slots) // 2 + 1)
        used = int(self._offsets[self.count])
        if used + length > len(self._data):
            self._data = _lengthened(self._data, 2 * (used + length))


def _lengthened(old: np.ndarray, size: int) -> np.ndarray:
    new = np.empty(size, old.dtype)
    new[: len(old)] = old
    return new
