"""How many partial matches there are, and sums over them, as cells that can be added and joined.

A cell stands for a set of (partial) matches: its first word is how many they are, each further word a *accumulator*: the sum, least or
greatest of one value over all pairs of a match and an event that its element binds. Words of float accumulators are bit patterns.

A number of matches beyond 64 bits stays at FULL, a sum beyond them at LOST: both spread to whatever is made from them, and are errors
only where they reach a result, because partial matches that come to nothing may be any number."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.scalar.arithmetic import addition_overflows, as_float, as_word, sorts_before

# Columns of `accumulators`; row 0 stands for the number of matches
KIND = 0
ELEMENT = 1  # whose events count, -1 all
ACCUMULATOR_COLUMNS = 2

COUNT, SUM_INT, SUM_FLOAT, LEAST_INT, GREATEST_INT, LEAST_FLOAT, GREATEST_FLOAT = range(7)

FULL = np.iinfo(np.int64).max
LOST = np.iinfo(np.int64).min
_BOUND = 9.2e18  # products of which floats say less are surely within 64 bits


@inlined
def add_counts(a, b):
    return a + b if a <= FULL - b else FULL


@inlined
def multiply_counts(a, b):
    if a == 0 or b == 0:
        return np.int64(0)
    if np.float64(a) * np.float64(b) < _BOUND:
        return a * b
    return a * b if a <= FULL // b else FULL


@inlined
def add_sums(a, b):
    if a == LOST or b == LOST or addition_overflows(a, b):
        return np.int64(LOST)
    return a + b


@inlined
def multiply_sum(value, count):
    """A sum taken `count` times."""
    if value == 0 or count == 0:
        return np.int64(0)
    if value == LOST or count == FULL or abs(np.float64(value)) * np.float64(count) > _BOUND:
        return np.int64(LOST)
    return value * count


@borrowing
def better(kind, a, b):
    """The word of two that an accumulator for the least or greatest keeps."""
    if kind == LEAST_INT:
        return min(a, b)
    if kind == GREATEST_INT:
        return max(a, b)
    return a if sorts_before(a, b) == (kind == LEAST_FLOAT) else b


@borrowing
def nothing_of(kind):
    """The word of an accumulator over no event."""
    if kind == LEAST_INT:
        return np.int64(FULL)
    if kind == GREATEST_INT:
        return np.int64(LOST)
    if kind == LEAST_FLOAT:
        return as_word(np.nan)
    return as_word(-np.inf) if kind == GREATEST_FLOAT else np.int64(0)


@borrowing
def added(kind, a, b):
    if kind == SUM_INT:
        return add_sums(a, b)
    if kind == SUM_FLOAT:
        return as_word(as_float(a) + as_float(b))
    return better(kind, a, b)


@borrowing
def bound(kind, word, count, value):
    """The accumulator of `count` matches with one more event in each."""
    if count == 0:
        return word
    if kind == SUM_INT:
        return add_sums(word, multiply_sum(value, count))
    if kind == SUM_FLOAT:
        return as_word(as_float(word) + as_float(value) * np.float64(count))
    return better(kind, word, value)


@borrowing
def joined(kind, count, word, other_count, other):
    """The accumulator of every match of one set followed by every one of the other."""
    if count == 0 or other_count == 0:
        return nothing_of(kind)
    if kind == SUM_INT:
        return add_sums(multiply_sum(word, other_count), multiply_sum(other, count))
    if kind == SUM_FLOAT:
        return as_word(as_float(word) * np.float64(other_count) + as_float(other) * np.float64(count))
    return better(kind, word, other)


@inlined
def clear(accumulators, cells, at):
    cells[at] = 0
    for accumulator in range(1, accumulators.shape[0]):
        cells[at + accumulator] = nothing_of(accumulators[accumulator, KIND])


@inlined
def set_unit(accumulators, cells, at):
    """One match without events."""
    clear(accumulators, cells, at)
    cells[at] = 1


@inlined
def add_cell(accumulators, cells, at, others, other):
    cells[at] = add_counts(cells[at], others[other])
    for accumulator in range(1, accumulators.shape[0]):
        cells[at + accumulator] = added(accumulators[accumulator, KIND], cells[at + accumulator], others[other + accumulator])


@inlined
def add_bound(accumulators, cells, at, others, other, element, values, valid, row):
    """Add the matches of another cell, each with the event of `row` (of `values`) bound to `element`. It may be the same cell."""
    count = others[other]
    for accumulator in range(1, accumulators.shape[0]):
        word = others[other + accumulator]
        if (accumulators[accumulator, ELEMENT] < 0 or accumulators[accumulator, ELEMENT] == element) and valid[row, accumulator]:
            word = bound(accumulators[accumulator, KIND], word, count, values[row, accumulator])
        cells[at + accumulator] = added(accumulators[accumulator, KIND], cells[at + accumulator], word)
    cells[at] = add_counts(cells[at], count)


@inlined
def bind(accumulators, cells, at, element, values, valid, row):
    """Bind the event to all matches of the cell."""
    for accumulator in range(1, accumulators.shape[0]):
        if (accumulators[accumulator, ELEMENT] < 0 or accumulators[accumulator, ELEMENT] == element) and valid[row, accumulator]:
            cells[at + accumulator] = bound(accumulators[accumulator, KIND], cells[at + accumulator], cells[at], values[row, accumulator])


@inlined
def add_joined(accumulators, cells, at, firsts, first, seconds, second):
    """Add every match of one cell followed by every one of another."""
    count, other = firsts[first], seconds[second]
    cells[at] = add_counts(cells[at], multiply_counts(count, other))
    for accumulator in range(1, accumulators.shape[0]):
        kind = accumulators[accumulator, KIND]
        cells[at + accumulator] = added(
            kind, cells[at + accumulator], joined(kind, count, firsts[first + accumulator], other, seconds[second + accumulator])
        )


@inlined
def add_start(accumulators, cells, at, element, values, valid, row):
    """Add the match that consists of the event alone."""
    for accumulator in range(1, accumulators.shape[0]):
        kind = accumulators[accumulator, KIND]
        if (accumulators[accumulator, ELEMENT] < 0 or accumulators[accumulator, ELEMENT] == element) and valid[row, accumulator]:
            cells[at + accumulator] = added(kind, cells[at + accumulator], bound(kind, nothing_of(kind), 1, values[row, accumulator]))
    cells[at] = add_counts(cells[at], 1)
