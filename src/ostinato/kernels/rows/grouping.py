"""Putting rows next to the other rows of their partition."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import jit
from ostinato.kernels.rows.read_only import borrowed

WORD = 8  # bytes of a value that the kernels move
MOST_ROWS = np.iinfo(np.int32).max  # places are 32-bit numbers below this: half the memory traffic


@jit("int64(int64[::1], int64[::1], int64[::1])")
def count_rows_of_keys(keys, counts, touched):
    """Add the rows of each key to `counts`; `touched` receives the keys that had none, in order of appearance. Returns how many."""
    found = 0
    for i in range(len(keys)):
        k = keys[i]
        before = counts[k]
        counts[k] = before + 1
        if before == 0:
            touched[found] = k
            found += 1
    return found


@jit("void(int64[::1], int64[::1], int32[::1])")
def place_rows(keys, next_place, places):
    """Where each row goes, given where the next row of each key goes."""
    for i in range(len(keys)):
        k = keys[i]
        place = next_place[k]
        places[i] = place
        next_place[k] = place + 1


@jit("void(int64[::1], int64[::1], int32[::1], int32[::1])")
def place_and_order(keys, next_place, places, rows):
    """As `place_rows`, and which row goes to each place."""
    for i in range(len(keys)):
        k = keys[i]
        place = next_place[k]
        places[i] = place
        rows[place] = i
        next_place[k] = place + 1


@jit("void(int64[::1], int32[::1], int64[::1])")
def gather_words(values, rows, out):
    for i in range(len(rows)):
        out[i] = values[rows[i]]


@jit("void(int64[::1], int32[::1], int64[::1])")
def scatter_words(values, places, out):
    for i in range(len(places)):
        out[places[i]] = values[i]


@jit("void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def move_words(values, source, lengths, target, out):
    for i in range(len(source)):
        first, at = source[i], target[i]
        for j in range(lengths[i]):
            out[at + j] = values[first + j]


@jit(
    "void(uint8[::1], int64[::1], int64[::1], int64[::1], uint64[::1])",
    "void(uint8[::1], int64[::1], int64[::1], int64[::1], uint8[::1])",
)
def put_octets(octets, source, counts, target, bits):
    """Stretches of bytes into the words, or bytes, of the arena."""
    for i in range(len(source)):
        for j in range(counts[i]):
            bits[target[i] + j] = octets[source[i] + j]


@jit("void(int64[::1], int64[::1], int64[::1])")
def fill_ranges(starts, counts, out):
    """out = the concatenation of starts[i] .. starts[i] + counts[i]."""
    at = 0
    for i in range(len(starts)):
        first = starts[i]
        for j in range(counts[i]):
            out[at] = first + j
            at += 1


def ranges(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    out = np.empty(int(counts.sum()), np.int64)
    fill_ranges(np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(counts, np.int64), out)
    return out


def places_of(keys: np.ndarray, next_place: np.ndarray, capacity: int) -> np.ndarray:
    """See `place_rows`; all places are below `capacity`."""
    places = np.empty(len(keys), np.int32)
    _check_capacity(capacity)
    place_rows(keys, next_place, places)
    return places


def places_and_rows(keys: np.ndarray, next_place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """See `place_and_order`; the rows take as many places as they are, from 0 on."""
    places, rows = np.empty(len(keys), np.int32), np.empty(len(keys), np.int32)
    _check_capacity(len(keys))
    place_and_order(keys, next_place, places, rows)
    return places, rows


def _check_capacity(rows: int) -> None:
    if rows > MOST_ROWS:
        raise MemoryError(f"more than {MOST_ROWS:,} rows are held at once")


def taken(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """values[rows], for many 32-bit numbers of rows."""
    if values.ndim != 1 or values.dtype.itemsize != WORD:
        return values.take(rows, axis=0)
    out = np.empty(len(rows), values.dtype)
    gather_words(borrowed(np.ascontiguousarray(values)).view(np.int64), rows, out.view(np.int64))
    return out


def put(out: np.ndarray, places: np.ndarray | slice, values: np.ndarray) -> None:
    """out[places] = values"""
    if isinstance(places, slice) or out.ndim != 1 or out.dtype != values.dtype or out.dtype.itemsize != WORD:
        out[places] = values
        return
    scatter_words(borrowed(np.ascontiguousarray(values)).view(np.int64), places, out.view(np.int64))


def move(values: np.ndarray, source: np.ndarray, lengths: np.ndarray, target: np.ndarray, out: np.ndarray) -> None:
    """Stretches of rows from one array, or place of it, to another."""
    if values.dtype.itemsize == 1 and values.ndim == 1:
        put_octets(borrowed(values).view(np.uint8), source, lengths, target, out.view(np.uint8))
        return
    if values.dtype.itemsize != WORD:
        out[ranges(target, lengths)] = values[ranges(source, lengths)]
        return
    width = values.shape[1] if values.ndim == 2 else 1
    words, target_words = borrowed(values).reshape(-1).view(np.int64), out.reshape(-1).view(np.int64)
    if width == 1:
        move_words(words, source, lengths, target, target_words)
    else:
        move_words(words, source * width, lengths * width, target * width, target_words)
