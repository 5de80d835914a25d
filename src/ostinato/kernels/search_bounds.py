"""What a condition asks of a value of the row, as an interval of integers in the order of the values."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.arithmetic import IS_NULL, IS_VALUE, as_float
from ostinato.kernels.scalar import evaluate

# Columns of `bounds`: the lines of scalar code that compute a bound, where it is then (a cell of the scratch, or a register if nothing
# is computed), how the value must compare with it (eq, ne, lt, le, gt, ge), and whether they are floats.
CODE_START, CODE_END, BOUND_AT, RELATION, FLOATS = range(5)
BOUND_WIDTH = 5

LEAST, GREATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@inlined
def sort_key(word, floats):
    """Floats in the order of their values, as integers; both zeros are one. NaN has no place."""
    if not floats:
        return np.int64(word)
    if word == LEAST:
        return np.int64(0)
    return np.int64(word ^ GREATEST) if word < 0 else np.int64(word)


@inlined
def row_value(start, end, at, code, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid):
    """A value of the row and its flag: a slot, or a cell of the scratch if it takes lines of code to compute it."""
    if start < end:
        evaluate(code, start, end, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, 0, 0)
        return scratch[at], np.int64(scratch_valid[at])
    return slots[row, at], np.int64(slot_valid[row, at])


@inlined
def narrowed(relation, key, lo, hi):
    """The part of [lo, hi] in which values are in that relation to `key`; where there is none, only what may be anything lies in it."""
    if (relation == 2 and key == LEAST) or (relation == 4 and key == GREATEST):
        return GREATEST, LEAST
    if relation in (0, 4, 5):
        lo = max(lo, key + 1 if relation == 4 else key)
    if relation in (0, 2, 3):
        hi = min(hi, key - 1 if relation == 2 else key)
    if lo > hi:
        return GREATEST, LEAST
    return lo, hi


@borrowing
def interval(first, behind, bounds, code, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, i):
    """Where the value of a row must lie for thread or run i to make a move: (lowest, highest, whether that can be said). A bound that
    could not be computed is an error at rows that a search would pass."""
    lo, hi = np.int64(LEAST), np.int64(GREATEST)
    if first == behind:
        return np.int64(0), np.int64(0), True
    for b in range(first, behind):
        if bounds[b, CODE_START] < bounds[b, CODE_END]:
            evaluate(
                code, bounds[b, CODE_START], bounds[b, CODE_END], scratch, scratch_valid, ranks, slots, slot_valid, row, registers,
                register_valid, i, i,
            )  # fmt: skip
            word, flag = scratch[bounds[b, BOUND_AT]], np.int64(scratch_valid[bounds[b, BOUND_AT]])
        else:
            word, flag = registers[i, bounds[b, BOUND_AT]], np.int64(register_valid[i, bounds[b, BOUND_AT]])
        number = as_float(word)
        if flag == IS_NULL or (flag == IS_VALUE and bounds[b, FLOATS] and number != number):
            lo, hi = np.int64(GREATEST), np.int64(LEAST)
        elif flag == IS_VALUE:
            lo, hi = narrowed(bounds[b, RELATION], sort_key(word, bounds[b, FLOATS]), lo, hi)
        else:
            return lo, hi, False
    return lo, hi, True
