"""Rows of matches: finding the one that a navigation asks for, and reducing many to a value per match, or to one at each row."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import inlined, jit

COUNT, SUM, MIN, MAX, FIRST, LAST, MEAN, STDDEV = range(8)


@inlined
def _place(m, offsets, variables, belongs, last, offset):
    """The place among the rows of all matches of the `offset`-th row of a match that belongs, from the first or back from the last; -1
    if there is none. `belongs` has a flag per variable; empty: every row does."""
    low, high = offsets[m], offsets[m + 1]
    step = -1 if last else 1
    at = high - 1 if last else low
    if len(belongs) == 0:
        at += step * offset
    else:
        left = offset
        while low <= at < high:
            if belongs[variables[at]]:
                if left == 0:
                    break
                left -= 1
            at += step
    return at if low <= at < high else np.int64(-1)


@inlined
def _only_place(m, offsets, variables, belongs):
    """The same for a row that is the only one to belong, whichever end it is nearer to."""
    low, high = offsets[m], offsets[m + 1] - 1
    while low < high and not belongs[variables[low]] and not belongs[variables[high]]:
        low, high = low + 1, high - 1
    if low <= high and belongs[variables[low]]:
        return low
    return high if low <= high and belongs[variables[high]] else np.int64(-1)


@jit("void(int64[::1], uint8[::1], uint8[::1], boolean, int64, int64[::1])")
def locate(offsets, variables, belongs, last, offset, out):
    """Per match the place of a row, see above."""
    for m in range(len(offsets) - 1):
        out[m] = _place(m, offsets, variables, belongs, last, offset)


@jit(
    "boolean(int64[::1], int64[::1], int64[::1], uint8[::1], uint8[::1], boolean, int64, boolean, int64[::1], int64, int64[::1],"
    " int64[::1], int64[::1], int64[::1])"
)
def locate_in_arena(start, offsets, ordinals, variables, belongs, last, offset, only, keys, shift, places, base, length, out):
    """Per match where such a row lies, after moving by `shift` inside its partition; -1 if there is none. Returns whether all are
    there. Empty `ordinals`: the rows of a match are contiguous from `start`. `only`: no match has two rows that belong, and the first
    of them is wanted."""
    complete = True
    for m in range(len(start)):
        if only:
            at = _only_place(m, offsets, variables, belongs)
        else:
            at = _place(m, offsets, variables, belongs, last, offset)
        found = np.int64(-1)
        if at >= 0:
            ordinal = start[m] + at - offsets[m] if len(ordinals) == 0 else ordinals[at]
            k = keys[m]
            place = ordinal + shift - base[k]
            if 0 <= place < length[k]:
                found = places[k] + place
        out[m] = found
        complete = complete and found >= 0
    return complete


@jit("void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def event_index(keys, start, offsets, ordinals, offset, base, out):
    """Where each row of each match lies."""
    contiguous = len(ordinals) == 0
    for m in range(len(keys)):
        k = keys[m]
        to_arena = offset[k] - base[k]
        for e in range(offsets[m], offsets[m + 1]):
            out[e] = to_arena + (start[m] + e - offsets[m] if contiguous else ordinals[e])


@inlined
def _counts(e, variables, valid, belongs):
    """Whether a row belongs and has a value."""
    return (len(belongs) == 0 or belongs[variables[e]]) and (len(valid) == 0 or valid[e])


@jit("void(int64[::1], uint8[::1], uint8[::1], uint8[::1], boolean, int64[::1])")
def count_rows(offsets, variables, valid, belongs, running, out):
    """Per match how many rows belong and have a value; `running`: at each row of all matches, how many up to there."""
    for m in range(len(offsets) - 1):
        n = 0
        for e in range(offsets[m], offsets[m + 1]):
            if _counts(e, variables, valid, belongs):
                n += 1
            if running:
                out[e] = n
        if not running:
            out[m] = n


@jit("int64(int64[::1], uint8[::1], int64[::1], uint8[::1], uint8[::1], int64, boolean, int64[::1], boolean[::1])")
def reduce_ints(offsets, variables, values, valid, belongs, what, running, out, out_valid):
    """SUM, MIN, MAX, FIRST or LAST of integers; `running` as above. Returns the match whose sum overflows, or -1."""
    for m in range(len(offsets) - 1):
        found = False
        result = np.int64(0)
        for e in range(offsets[m], offsets[m + 1]):
            if _counts(e, variables, valid, belongs):
                v = values[e]
                if not found:
                    result = v
                    found = True
                elif what == SUM:
                    total = result + v
                    if ((result ^ total) & (v ^ total)) < 0:
                        return m
                    result = total
                elif (what == MIN and v < result) or (what == MAX and v > result) or what == LAST:
                    result = v
            if running:
                out[e] = result
                out_valid[e] = found
        if not running:
            out[m] = result
            out_valid[m] = found
    return -1


@jit("void(int64[::1], uint8[::1], float64[::1], uint8[::1], uint8[::1], int64, boolean, float64[::1], boolean[::1])")
def reduce_floats(offsets, variables, values, valid, belongs, what, running, out, out_valid):
    """Any reduction of floats; MEAN and STDDEV (of a sample: null below two values) by Welford's recurrence. `running` as above."""
    least = 2 if what == STDDEV else 1
    for m in range(len(offsets) - 1):
        n = 0
        result = 0.0
        mean = 0.0
        spread = 0.0
        for e in range(offsets[m], offsets[m + 1]):
            if _counts(e, variables, valid, belongs):
                v = values[e]
                n += 1
                if what == STDDEV:
                    delta = v - mean
                    mean += delta / n
                    spread += delta * (v - mean)
                elif n == 1:
                    result = v
                elif what == SUM or what == MEAN:
                    result += v
                elif what == LAST or (what == MIN and _less(v, result)) or (what == MAX and _less(result, v)):
                    result = v
            if running:
                out[e] = _completed(what, n, result, spread)
                out_valid[e] = n >= least
        if not running:
            out[m] = _completed(what, n, result, spread)
            out_valid[m] = n >= least


@inlined
def _completed(what, n, result, spread):
    """What the values so far make together."""
    if what == MEAN and n > 0:
        result /= n
    if what == STDDEV and n > 1:
        result = np.sqrt(spread / (n - 1))
    return result


@jit
def _less(a, b):
    """NaN is greater than every number, as in DuckDB and Spark."""
    return a < b or (b != b and a == a)
