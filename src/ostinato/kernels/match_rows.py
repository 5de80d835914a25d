"""Rows of matches: finding the one that a navigation asks for, and reducing many to one value per match."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import inlined, jit

COUNT, SUM, MIN, MAX, FIRST, LAST, MEAN, STDDEV = range(8)


@inlined
def _ordinal(m, start, offsets, ordinals, variables, variable, last, offset):
    """The ordinal of the `offset`-th row of `variable` (-1: any) of a match, from the first or back from the last; -1 if there is
    none. Empty `ordinals`: the rows of a match are contiguous from `start`."""
    low, high = offsets[m], offsets[m + 1]
    step = -1 if last else 1
    at = high - 1 if last else low
    if variable < 0:
        at += step * offset
    else:
        left = offset
        while low <= at < high:
            if variables[at] == variable:
                if left == 0:
                    break
                left -= 1
            at += step
    found = np.int64(-1)
    if low <= at < high:
        found = start[m] + at - low if len(ordinals) == 0 else ordinals[at]
    return found


@jit("void(int64[::1], int64[::1], int64[::1], uint8[::1], int64, boolean, int64, int64[::1])")
def locate(start, offsets, ordinals, variables, variable, last, offset, out):
    """Per match the ordinal of a row, see above."""
    for m in range(len(start)):
        out[m] = _ordinal(m, start, offsets, ordinals, variables, variable, last, offset)


@jit(
    "boolean(int64[::1], int64[::1], int64[::1], uint8[::1], int64, boolean, int64, int64[::1], int64, int64[::1], int64[::1],"
    " int64[::1], int64[::1])"
)
def locate_in_arena(start, offsets, ordinals, variables, variable, last, offset, keys, shift, places, base, length, out):
    """Per match where such a row lies, after moving by `shift` inside its partition; -1 if there is none. Returns whether all are
    there."""
    complete = True
    for m in range(len(start)):
        ordinal = _ordinal(m, start, offsets, ordinals, variables, variable, last, offset)
        found = np.int64(-1)
        if ordinal >= 0:
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
        move = offset[k] - base[k]
        for e in range(offsets[m], offsets[m + 1]):
            out[e] = move + (start[m] + e - offsets[m] if contiguous else ordinals[e])


@jit("void(int64[::1], uint8[::1], uint8[::1], int64, int64[::1])")
def count_rows(offsets, variables, valid, variable, out):
    for m in range(len(offsets) - 1):
        n = 0
        for e in range(offsets[m], offsets[m + 1]):
            if (variable < 0 or variables[e] == variable) and (len(valid) == 0 or valid[e]):
                n += 1
        out[m] = n


@jit("int64(int64[::1], uint8[::1], int64[::1], uint8[::1], int64, int64, int64[::1], boolean[::1])")
def reduce_ints(offsets, variables, values, valid, variable, what, out, out_valid):
    """SUM, MIN, MAX, FIRST or LAST of integers. Returns the match whose sum overflows, or -1."""
    for m in range(len(offsets) - 1):
        found = False
        result = np.int64(0)
        for e in range(offsets[m], offsets[m + 1]):
            if (variable >= 0 and variables[e] != variable) or (len(valid) > 0 and not valid[e]):
                continue
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
        out[m] = result
        out_valid[m] = found
    return -1


@jit("void(int64[::1], uint8[::1], float64[::1], uint8[::1], int64, int64, float64[::1], boolean[::1])")
def reduce_floats(offsets, variables, values, valid, variable, what, out, out_valid):
    """Any reduction of floats; MEAN and STDDEV (of a sample: null below two values) by Welford's recurrence."""
    for m in range(len(offsets) - 1):
        n = 0
        result = 0.0
        mean = 0.0
        spread = 0.0
        for e in range(offsets[m], offsets[m + 1]):
            if (variable >= 0 and variables[e] != variable) or (len(valid) > 0 and not valid[e]):
                continue
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
        if what == MEAN and n > 0:
            result /= n
        if what == STDDEV and n > 1:
            result = np.sqrt(spread / (n - 1))
        out[m] = result
        out_valid[m] = n > 1 if what == STDDEV else n > 0


@jit
def _less(a, b):
    """NaN is greater than every number, as in DuckDB and Spark."""
    return a < b or (b != b and a == a)
