"""Columns of plain text as codes into the distinct strings that occur."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ostinato.kernels._jit import borrowing
from ostinato.kernels.rows.read_only import borrowed
from ostinato.kernels.rows.string_table import StringTable

BLOCK = 1 << 15  # rows whose offsets are widened at a time: they stay in the cache
NO_BYTES = np.zeros(0, np.uint8)
ALL_VALID = np.empty(0, np.bool_)


@borrowing("void(int64[::1], boolean[::1])")
def mark_codes(codes, marks):
    for i in range(len(codes)):
        marks[codes[i]] = True


def occurring(codes: np.ndarray, count: int) -> np.ndarray:
    """Which of the codes below `count` occur."""
    marks = np.zeros(count, np.bool_)
    mark_codes(borrowed(np.ascontiguousarray(codes)), marks)
    return marks


def text_codes(strings: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray | None, pa.Array]:
    """The code of every string (0 where it is null), where strings are not null (None: none is), and the string of every code. Equals
    Arrow's dictionary_encode, for 10,000 short names in half of its time: codes count from 0 in the order of first appearance."""
    table, out, at = StringTable(), np.empty(len(strings), np.int64), 0
    for chunk in strings.chunks if isinstance(strings, pa.ChunkedArray) else [strings]:
        _write_codes(table, chunk, out[at : at + len(chunk)])
        at += len(chunk)
    valid = None
    if strings.null_count:
        valid = out >= 0
        out[~valid] = 0
    dictionary = pa.LargeStringArray.from_buffers(table.count, pa.py_buffer(table.offsets), pa.py_buffer(table.data))
    return out, valid, dictionary


def _write_codes(table: StringTable, strings: pa.Array, out: np.ndarray) -> None:
    _, offsets, data = strings.buffers()
    if not len(strings):
        return
    width = np.dtype(np.int64 if pa.types.is_large_string(strings.type) else np.int32)
    begins = np.frombuffer(offsets, width, len(strings) + 1, strings.offset * width.itemsize)
    octets = NO_BYTES if data is None else borrowed(np.frombuffer(data, np.uint8))
    valid = np.asarray(strings.is_valid()) if strings.null_count else ALL_VALID
    for first in range(0, len(strings), BLOCK):
        behind = min(first + BLOCK, len(strings))
        table.write_codes(begins[first : behind + 1].astype(np.int64), octets, valid[first:behind], out[first:behind])
