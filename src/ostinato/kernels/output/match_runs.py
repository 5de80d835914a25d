"""Rows of matches as runs: the variable that neighbouring rows are mapped to, and how many they are, in 16 bits. The runs of a match go
from its last row to its first, as its path is walked."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import inlined, jit

LONGEST_RUN = 256  # rows; longer ones are several


@inlined
def run_of(variable, rows):
    return np.uint16(variable | (rows - 1) << 8)


@inlined
def run_variable(run):
    return np.int64(run) & 255


@inlined
def run_rows(run):
    return (np.int64(run) >> 8) + 1


@jit("void(int64[::1], uint16[::1], uint8[::1])")
def spread_runs(ends, runs, variables):
    """The variable of every row, match by match; `ends` is where the runs of each match end."""
    begin, place = 0, 0
    for m in range(len(ends)):
        for at in range(ends[m] - 1, begin - 1, -1):
            variable = np.uint8(run_variable(runs[at]))
            for _ in range(run_rows(runs[at])):
                variables[place] = variable
                place += 1
        begin = ends[m]


@inlined
def _row_from_last(begin, end, runs, belongs, offset):
    """How many rows before the last one of a match lies the `offset`-th of those that belong, counted from the last; -1: there is none."""
    passed = np.int64(0)
    for at in range(begin, end):
        rows = run_rows(runs[at])
        if belongs[run_variable(runs[at])]:
            if offset < rows:
                return passed + offset
            offset -= rows
        passed += rows
    return np.int64(-1)


@inlined
def _row_from_first(begin, end, runs, belongs, offset):
    """The same counted from the first row, and how many rows behind it."""
    passed = np.int64(0)
    for at in range(end - 1, begin - 1, -1):
        rows = run_rows(runs[at])
        if belongs[run_variable(runs[at])]:
            if offset < rows:
                return passed + offset
            offset -= rows
        passed += rows
    return np.int64(-1)


@jit(
    "boolean(int64[::1], int64[::1], int64[::1], uint16[::1], uint8[::1], boolean, int64, int64[::1], int64, int64[::1], int64[::1],"
    " int64[::1], int64[::1])"
)
def locate_runs_in_arena(start, offsets, ends, runs, belongs, last, offset, keys, shift, places, base, length, out):
    """Per match where the `offset`-th row that belongs lies, from the first or back from the last, after moving by `shift` inside its
    partition; -1 if there is none. Returns whether all are there. `belongs` has a flag per variable; empty: every row does."""
    complete, begin = True, np.int64(0)
    for m in range(len(start)):
        rows = offsets[m + 1] - offsets[m]
        if len(belongs) == 0:
            at = offset if offset < rows else np.int64(-1)
        elif last:
            at = _row_from_last(begin, ends[m], runs, belongs, offset)
        else:
            at = _row_from_first(begin, ends[m], runs, belongs, offset)
        begin = ends[m]
        found, k = np.int64(-1), keys[m]
        if at >= 0:
            place = start[m] + (rows - 1 - at if last else at) + shift - base[k]
            if 0 <= place < length[k]:
                found = places[k] + place
        out[m] = found
        complete = complete and found >= 0
    return complete
