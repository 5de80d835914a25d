"""Where the variables of found matches end, where each has its rows side by side. The span is known, as in `scan_spans`."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import jit
from ostinato.kernels.scan.scan_dfa import ACCEPTS, ACCEPTS_AT_END
from ostinato.kernels.scan.scan_spans import assign_best_way


@jit
def note_only_way(at, behind, bits, mask, ways, place, n, ends):
    """Follow the table while each row allows one transition only; False if some row allows more."""
    begin = at
    while at < behind:
        way = np.int64(ways[place + np.int64(bits[at] & mask)])
        if way < 0:
            return False
        place = way >> 8
        at += 1
        ends[way & 255, n] = at - begin
    return True


@jit
def note_best_way(variables, rows, n, ends):
    """From the variables of all rows."""
    for at in range(rows):
        ends[variables[at], n] = at + 1


_FIND = (
    "int64(int64[:, ::1], int64, int64, int64[::1], int64[::1], int64[::1], {bits}[::1], uint64, int64, int32[::1], uint64[::1],"
    " int32[::1], int32[:, ::1], uint8[::1], int64[::1], int64[:, ::1], uint64[:, ::1], uint8[::1], int32[:, ::1])"
)


@jit(_FIND.format(bits="uint8"), _FIND.format(bits="uint64"))
def find_stretches(
    found, begin, count, offset, base, length, bits, mask, width, ways, masks, first, transitions, accepting, initials, trail, failed,
    variables, ends,
):  # fmt: skip
    """`ends[v, n]`: how many rows of match n stand before the end of those of variable v; variables are numbered in their order, and
    `ends` is zero before. Otherwise as `assign_variables`; `variables` has room for those of one match, as `trail` and `failed`."""
    for n in range(begin, count):
        k = found[0, n]
        at = found[1, n] + offset[k] - base[k]
        behind = found[2, n] + offset[k] - base[k]
        initial = initials[1 if found[1, n] == 0 else 0]
        if len(ways) == 0 or not note_only_way(at, behind, bits, mask, ways, initial * width, n, ends):
            if behind - at >= len(trail):
                return n
            accepted = ACCEPTS | ACCEPTS_AT_END if found[2, n] == base[k] + length[k] else ACCEPTS
            for v in range(len(ends)):
                ends[v, n] = 0
            if assign_best_way(at, behind, 0, bits, masks, first, transitions, accepting, accepted, variables, initial, trail, failed):
                note_best_way(variables, behind - at, n, ends)
        for v in range(1, len(ends)):
            ends[v, n] = max(ends[v, n], ends[v - 1, n])
    return count
