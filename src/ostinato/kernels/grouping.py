"""Putting rows next to the other rows of their partition."""

from __future__ import annotations

import ctypes

import numpy as np

from ostinato.kernels._jit import jit


@jit("int64(int64[::1], int64[::1], int64, int64[::1], int64[::1], int64[::1])")
def number_touched(keys, stamp, epoch, local, touched, local_of):
    """Give every distinct key of the batch a small number, in order of first appearance. `stamp` and `local` are as long as there
    are keys and are kept between calls, so that the cost follows the batch and not the number of keys ever seen."""
    count = 0
    for i in range(len(keys)):
        k = keys[i]
        if stamp[k] != epoch:
            stamp[k] = epoch
            local[k] = count
            touched[count] = k
            count += 1
        local_of[i] = local[k]
    return count


@jit("void(int64[::1], int64, int64[::1], int32[::1])")
def counting_sort(local_of, count, begin, order):
    """Stable order of rows by small number; `begin` (count + 1) receives where each number's rows start."""
    for i in range(len(local_of)):
        begin[local_of[i] + 1] += 1
    for k in range(count):
        begin[k + 1] += begin[k]
    place = begin[:-1].copy()
    for i in range(len(local_of)):
        k = local_of[i]
        order[place[k]] = i
        place[k] += 1


@jit("void(int64[::1], int32[::1], int64[::1])")
def gather_words(values, order, out):
    """NumPy would first widen the 32-bit order, at twice the memory traffic."""
    for i in range(len(order)):
        out[i] = values[order[i]]


def gather(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """values[order] for an order of 32-bit row numbers."""
    if values.ndim != 1 or values.dtype.itemsize != 8 or not values.flags.c_contiguous:
        return values[order]
    out = np.empty(len(order), values.dtype)
    words = values if values.flags.writeable else _writable(values)
    gather_words(words.view(np.int64), order, out.view(np.int64))
    return out


@jit("void(int64[::1], int64[::1], int64[::1], int64[::1], int32[::1], int64[::1], int64[::1], int64[::1])")
def merge_words(old, old_offset, old_length, begin, order, offset, values, out):
    """Per key the retained rows, then the rows of the batch. Empty `order`: the batch is in order already."""
    sorted_already = len(order) == 0
    for i in range(len(old_offset)):
        at = offset[i]
        source = old_offset[i]
        for j in range(old_length[i]):
            out[at + j] = old[source + j]
        at += old_length[i]
        for j in range(begin[i], begin[i + 1]):
            out[at] = values[j if sorted_already else order[j]]
            at += 1


def merge(old: np.ndarray, values: np.ndarray, layout: tuple, capacity: int) -> np.ndarray:
    """See `merge_words`; `layout` as in `runtime.arena`."""
    old_offset, old_length, begin, order, offset = layout
    out = np.empty(capacity, old.dtype)
    values = np.ascontiguousarray(values)
    words = values if values.flags.writeable else _writable(values)
    order = np.empty(0, np.int32) if order is None else order
    kept = old if old.flags.writeable else _writable(old)
    merge_words(kept.view(np.int64), old_offset, old_length, begin, order, offset, words.view(np.int64), out.view(np.int64))
    return out


@jit("void(uint8[::1], int64[::1], int64[::1], int64[::1], uint64[::1])")
def put_octets(octets, source, counts, target, bits):
    """Stretches of predicate bytes into the words of the arena."""
    for i in range(len(source)):
        for j in range(counts[i]):
            bits[target[i] + j] = octets[source[i] + j]


def _writable(values: np.ndarray) -> np.ndarray:
    """The same memory without the read-only mark that Arrow's buffers carry: it would be another type to compile for, and the
    kernel only reads. The caller keeps the values alive."""
    address = values.__array_interface__["data"][0]
    raw = (ctypes.c_char * values.nbytes).from_address(address)
    return np.frombuffer(raw, values.dtype)


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
