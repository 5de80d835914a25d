"""A hash table from strings to consecutive codes, over plain arrays. Strings lie as Arrow has them: bytes one behind the other, and
the offsets at which they begin. What a batch costs does not depend on how many strings are known already.

Bytes are read eight at a time. The hash of a string of at most eight is its word, mixed in a way that can be undone: where hash and
length are the same, so are such strings, and their bytes are not looked at again."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined

NO_CODE = -1
HASH, ENTRY = 0, 1  # columns of `slots`: side by side, so that looking at a short string is one look into memory
WORD = 8
SIZE_BITS, SIZES = 4, 15  # an entry is a code, and behind it the length of a short string, LONG of others
LONG = WORD + 1
FIRST_SLOTS = 1 << 8
FIRST_BYTES = 1 << 10


@inlined
def octet(data, at, number):
    """A byte at its place in a word. Without a sign the place needs no test, and the compiler makes one load of eight such bytes."""
    return np.uint64(data[np.uint64(at) + np.uint64(number)]) << np.uint64(8 * number)


@inlined
def word_at(data, at):
    """Eight bytes as a number."""
    low = octet(data, at, 0) | octet(data, at, 1) | octet(data, at, 2) | octet(data, at, 3)
    return low | octet(data, at, 4) | octet(data, at, 5) | octet(data, at, 6) | octet(data, at, 7)


@inlined
def short_word(data, begin, end):
    """At most eight bytes as a number, zeros behind them. Bytes behind the string are read and cut off, where there are any."""
    word = np.uint64(0)
    if begin + WORD <= len(data):
        if end > begin:
            word = word_at(data, begin) & (np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(8 * (WORD - (end - begin))))
    else:
        for i in range(begin, end):
            word |= np.uint64(data[i]) << np.uint64(8 * (i - begin))
    return word


@inlined
def mixed(h):
    """Upper bits are folded into lower ones, before because a product has nothing of them there, and after because slots are chosen by
    the lower ones. All of it can be undone."""
    h = (h ^ (h >> np.uint64(32))) * np.uint64(11400714819323198485)
    return h ^ (h >> np.uint64(32))


@inlined
def hash_of(data, begin, end):
    h = np.uint64(0)
    if end - begin <= WORD:
        h = mixed(short_word(data, begin, end))
    else:
        at = begin
        while at < end - WORD:
            h = mixed(h ^ word_at(data, at))
            at += WORD
        h = mixed(h ^ word_at(data, end - WORD))
    return np.int64(h)


@inlined
def same(data, begin, length, other_data, other_begin, other_length):
    """Whether two strings of more than eight bytes are equal."""
    at, last = np.int64(0), length - WORD
    if length != other_length:
        return False
    while at < last and word_at(data, begin + at) == word_at(other_data, other_begin + at):
        at += WORD
    return at >= last and word_at(data, begin + last) == word_at(other_data, other_begin + last)


@inlined
def slot_of(h, data, begin, length, slots, known_offsets, known_data):
    """Where the string is, or the empty slot where it belongs."""
    mask = np.uint64(len(slots) - 1)
    size = min(length, LONG)
    slot = np.uint64(h) & mask
    while True:
        entry = slots[slot, ENTRY]
        if entry < 0:
            return slot
        if slots[slot, HASH] == h and entry & SIZES == size:
            known = np.uint64(entry >> SIZE_BITS)
            began = known_offsets[known]
            if size < LONG or same(data, begin, length, known_data, began, known_offsets[known + np.uint64(1)] - began):
                return slot
        slot = (slot + np.uint64(1)) & mask


@borrowing("int64(int64[::1], uint8[::1], boolean[::1], int64, int64[:, ::1], int64[::1], uint8[::1], int64[::1], int64[::1])")
def code_strings(offsets, data, valid, first, slots, known_offsets, known_data, counted, out):
    """The codes of the strings from `first` on (`valid` is empty where none is null), new ones added behind the `counted[0]` known ones.
    Returns how far it came before there was no room."""
    count, done = counted[0], np.int64(len(offsets) - 1)
    for at in range(np.uint64(first), np.uint64(done)):
        if len(valid) > 0 and not valid[at]:
            out[at] = NO_CODE
            continue
        begin, end = offsets[at], offsets[at + np.uint64(1)]
        length = end - begin
        h = hash_of(data, begin, end)
        slot = slot_of(h, data, begin, length, slots, known_offsets, known_data)
        if slots[slot, ENTRY] < 0:
            used = known_offsets[count]
            if count == len(known_offsets) - 1 or used + length > len(known_data):
                done = np.int64(at)
                break
            for i in range(length):
                known_data[used + i] = data[begin + i]
            known_offsets[count + 1] = used + length
            slots[slot, HASH], slots[slot, ENTRY] = h, count << SIZE_BITS | min(length, LONG)
            count += 1
        out[at] = slots[slot, ENTRY] >> SIZE_BITS
    counted[0] = count
    return done


@borrowing("void(int64[::1], uint8[::1], boolean[::1], int64[:, ::1], int64[::1], uint8[::1], int64[::1])")
def find_strings(offsets, data, valid, slots, known_offsets, known_data, out):
    """The codes of strings that are known, NO_CODE of the others."""
    for at in range(np.uint64(len(offsets) - 1)):
        out[at] = NO_CODE
        if len(valid) == 0 or valid[at]:
            begin, end = offsets[at], offsets[at + np.uint64(1)]
            h = hash_of(data, begin, end)
            slot = slot_of(h, data, begin, end - begin, slots, known_offsets, known_data)
            if slots[slot, ENTRY] >= 0:
                out[at] = slots[slot, ENTRY] >> SIZE_BITS


@borrowing("void(int64[:, ::1], int64[:, ::1])")
def place_again(old, slots):
    """Into more slots, all empty."""
    mask = len(slots) - 1
    for i in range(len(old)):
        if old[i, ENTRY] >= 0:
            slot = old[i, HASH] & mask
            while slots[slot, ENTRY] >= 0:
                slot = (slot + 1) & mask
            slots[slot, HASH], slots[slot, ENTRY] = old[i, HASH], old[i, ENTRY]


class StringTable:
    """Grows as needed; arrays that were handed out stay as they are, because strings are only ever added behind the others."""

    def __init__(self) -> None:
        self._counted = np.zeros(1, np.int64)
        self._offsets = np.zeros(FIRST_SLOTS // 2 + 1, np.int64)
        self._data = np.zeros(FIRST_BYTES, np.uint8)
        self._slots = np.full((FIRST_SLOTS, 2), NO_CODE, np.int64)
        self.count = 0
        self.letters = 0  # bytes of all strings

    @property
    def offsets(self) -> np.ndarray:
        return self._offsets[: self.count + 1]

    @property
    def data(self) -> np.ndarray:
        return self._data[: self._offsets[self.count]]

    def codes(self, offsets: np.ndarray, data: np.ndarray, valid: np.ndarray) -> np.ndarray:
        """The code of every string, -1 where it is not valid; new strings are added."""
        out = np.empty(len(offsets) - 1, np.int64)
        self.write_codes(offsets, data, valid, out)
        return out

    def find(self, offsets: np.ndarray, data: np.ndarray, valid: np.ndarray) -> np.ndarray:
        """The code of every string that is known, -1 of others; none is added."""
        out = np.empty(len(offsets) - 1, np.int64)
        find_strings(offsets, data, valid, self._slots, self._offsets, self._data, out)
        return out

    def write_codes(self, offsets: np.ndarray, data: np.ndarray, valid: np.ndarray, out: np.ndarray) -> None:
        """As `codes`, into an array."""
        done = 0
        while True:
            done = code_strings(offsets, data, valid, done, self._slots, self._offsets, self._data, self._counted, out)
            if self._counted[0] != self.count:
                self.count = int(self._counted[0])
                self.letters = int(self._offsets[self.count])
            if done == len(offsets) - 1:
                return
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
