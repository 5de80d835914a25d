"""What a condition asks of a value of the row, as an interval of integers in the order of the values."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.places import place
from ostinato.kernels.scalar.arithmetic import HAS_FAILED, IS_NULL, IS_VALUE, as_float, as_word
from ostinato.kernels.scalar.scalar import evaluate, evaluate_inlined
from ostinato.program.analysis.comparisons import Undo

# Columns of `bounds`: the lines of scalar code that compute a bound, where it is then (a cell of the scratch, or a register if nothing
# is computed), how the value must compare with it (eq, ne, lt, le, gt, ge), and whether they are floats. A line with a step to undo in
# place of a relation (`program.analysis.searches.Undo`) belongs to the bound before it.
CODE_START, CODE_END, BOUND_AT, RELATION, FLOATS = range(5)
BOUND_WIDTH = 5

WHOLE, FLOAT, NARROW = range(3)  # kinds of values: integers, floats, integers that can be calculated with only if they are not too large

LEAST, GREATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max

_LARGE = np.int64(1) << 60  # sums of a few smaller ones stay within 64 bits
_ROUNDING = 2.0**-50  # more than what a few roundings make of a number, as its part
_SMALLEST = 2.0**-1070  # and more than what vanishes below the smallest numbers
_FIRST_STEP = int(Undo.ADDED)
_ADDED = int(Undo.ADDED)
_SUBTRACTED = int(Undo.SUBTRACTED)
_SUBTRACTED_FROM = int(Undo.SUBTRACTED_FROM)
_MULTIPLIED = int(Undo.MULTIPLIED)
_DIVIDED = int(Undo.DIVIDED)


@inlined
def sort_key(word, kind):
    """Floats in the order of their values, as integers; both zeros are one. NaN has no place."""
    if kind != FLOAT:
        return np.int64(word)
    if word == LEAST:
        return np.int64(0)
    return np.int64(word ^ GREATEST) if word < 0 else np.int64(word)


@inlined
def is_nan(word, kind):
    number = as_float(word)
    return kind == FLOAT and number != number


@inlined
def is_wide(word, kind):
    """Whether a calculation with the value may fail, so that bounds say nothing about it."""
    return kind == NARROW and (word > _LARGE or word < -_LARGE)


@inlined
def mirrored(relation):
    if relation in (2, 3):
        return relation + 2
    return relation - 2 if relation >= 4 else relation


@inlined
def bound_of(b, bounds, code, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, i):
    """A value of thread or run i, and its flag."""
    start, end, at = bounds[b, CODE_START], bounds[b, CODE_END], place(bounds[b, BOUND_AT])
    if start < end:
        evaluate_inlined(code, start, end, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, i, i)
        return scratch[at], np.int64(scratch_valid[at])
    return registers[place(i), at], np.int64(register_valid[place(i), at])


@inlined
def gives_nothing(step, r):
    """Whether the step makes null or NaN of everything."""
    return r != r or (step == _DIVIDED and r == 0.0)


@inlined
def undone(step, x, slack, r):
    """What a step made x of, how far from it that can be, and whether what is smaller is now greater; not finite: it cannot be said."""
    if step == _MULTIPLIED or step == _DIVIDED:
        if r == 0.0 or not np.isfinite(r):
            return np.nan, np.nan, False
        size = abs(r) if step == _DIVIDED else 1.0 / abs(r)
        y = x * r if step == _DIVIDED else x / r
        return y, slack * size + _ROUNDING * (abs(y) + slack * size) + _SMALLEST * max(size, 1.0), r < 0.0
    if step == _ADDED or step == _SUBTRACTED:
        return (x - r if step == _ADDED else x + r), slack + _ROUNDING * (abs(x) + abs(r)), False
    if step == _SUBTRACTED_FROM:
        return r - x, slack + _ROUNDING * (abs(x) + abs(r)), True
    return -x, slack, True


@inlined
def undone_whole(step, x, r):
    """The same for integers, which are exact."""
    if step == _ADDED or step == _SUBTRACTED:
        return (x - r if step == _ADDED else x + r), False
    return (r - x if step == _SUBTRACTED_FROM else -x), True


@inlined
def row_value(start, end, at, code, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid):
    """A value of the row and its flag: a slot, or a cell of the scratch if it takes lines of code to compute it."""
    if start < end:
        evaluate(
            code, start, end, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, np.int64(0), np.int64(0)
        )
        return scratch[at], np.int64(scratch_valid[at])
    return slots[place(row), place(at)], np.int64(slot_valid[place(row), place(at)])


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


@inlined
def widened(relation, x, slack, lo, hi):
    """The part of [lo, hi] that is less than `slack` away from where values are in that relation to x."""
    if relation in (0, 4, 5):
        lo = max(lo, sort_key(as_word(x - slack), FLOAT))
    if relation in (0, 2, 3):
        hi = min(hi, sort_key(as_word(x + slack), FLOAT))
    if lo > hi:
        return GREATEST, LEAST
    return lo, hi


@borrowing
def interval(first, behind, bounds, code, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, i):
    """Where the value of a row must lie for thread or run i to make a transition: (lowest, highest, whether that can be said). A bound that
    could not be computed is an error at rows that a search would pass."""
    lo, hi = np.int64(LEAST), np.int64(GREATEST)
    if first == behind:
        return np.int64(0), np.int64(0), True
    relation, floats, exact, flag, word = np.int64(0), np.int64(0), True, np.int64(IS_VALUE), np.int64(0)
    slack, x = 0.0, 0.0
    for line in range(first, behind):
        b = place(line)
        other, other_flag = bound_of(b, bounds, code, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, i)
        step = bounds[b, RELATION]
        if step < _FIRST_STEP:
            relation, floats, exact, flag, word = step, bounds[b, FLOATS], True, other_flag, other
            slack, x = 0.0, as_float(word)
        else:
            exact = False
            flag = other_flag if flag == IS_VALUE or other_flag == HAS_FAILED else flag
            if flag == IS_VALUE and floats and gives_nothing(step, as_float(other)):
                flag = np.int64(IS_NULL)
            turned = False
            if flag == IS_VALUE and floats:
                x, slack, turned = undone(step, x, slack, as_float(other))
            elif flag == IS_VALUE:
                if word > _LARGE or word < -_LARGE or other > _LARGE or other < -_LARGE:
                    return lo, hi, False
                word, turned = undone_whole(step, word, other)
            relation = mirrored(relation) if turned else relation
        if line + 1 < behind and bounds[place(line + 1), RELATION] >= _FIRST_STEP:
            continue
        if flag == HAS_FAILED or (not exact and floats and flag == IS_VALUE and not np.isfinite(x + slack)):
            return lo, hi, False
        if flag == IS_NULL or (floats and x != x):
            lo, hi = np.int64(GREATEST), np.int64(LEAST)
        elif exact or not floats:
            lo, hi = narrowed(relation, sort_key(word, floats), lo, hi)
        else:
            lo, hi = widened(relation, x, slack, lo, hi)
    return lo, hi, True
