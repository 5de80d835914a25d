"""Rows of matches as one stretch per variable: `ends[v, m]` rows of match m stand before the end of those of variable v, which begin where
those of the variable before end."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import inlined, jit


@inlined
def _begin(ends, v, m):
    return np.int64(ends[v - 1, m]) if v > 0 else np.int64(0)


@inlined
def _from_first(ends, m, belongs, offset):
    """The `offset`-th row of a match that belongs, counted from its first row; -1: there is none."""
    for v in range(len(ends)):
        if belongs[v]:
            begin = _begin(ends, v, m)
            rows = ends[v, m] - begin
            if offset < rows:
                return begin + offset
            offset -= rows
    return np.int64(-1)


@inlined
def _from_last(ends, m, belongs, offset):
    """The same, counted back from its last row."""
    for v in range(len(ends) - 1, -1, -1):
        if belongs[v]:
            rows = ends[v, m] - _begin(ends, v, m)
            if offset < rows:
                return np.int64(ends[v, m]) - 1 - offset
            offset -= rows
    return np.int64(-1)


@jit("boolean(int64[::1], int32[:, ::1], uint8[::1], boolean, int64, int64[::1], int64, int64[::1], int64[::1], int64[::1], int64[::1])")
def locate_stretches_in_arena(start, ends, belongs, last, offset, keys, shift, places, base, length, out):
    """Per match where the `offset`-th row that belongs lies, from the first or back from the last, after moving by `shift` inside its
    partition; -1 if there is none. Returns whether all are there. `belongs` has a flag per variable."""
    complete = True
    for m in range(len(start)):
        at = _from_last(ends, m, belongs, offset) if last else _from_first(ends, m, belongs, offset)
        found, k = np.int64(-1), keys[m]
        if at >= 0:
            place = start[m] + at + shift - base[k]
            if 0 <= place < length[k]:
                found = places[k] + place
        out[m] = found
        complete = complete and found >= 0
    return complete


@jit("void(int32[:, ::1], uint8[::1], int64[::1], uint8[::1])")
def spread_stretches(ends, order, offsets, variables):
    """The variable of every row, match by match; `order` are the variables as they are called elsewhere."""
    for m in range(len(offsets) - 1):
        for v in range(len(ends)):
            for at in range(_begin(ends, v, m), ends[v, m]):
                variables[offsets[m] + at] = order[v]
