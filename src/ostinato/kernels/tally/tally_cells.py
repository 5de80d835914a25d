"""How many partial matches there are, and sums over them, as cells that can be added and joined.

A cell stands for a set of (partial) matches: its first word is how many they are, each further word a *lane*: the sum, least or greatest
of one value over all pairs of a match and an event that its component binds. Words of float lanes are bit patterns.

A number of matches beyond 64 bits stays at FULL, a sum beyond them at LOST: both spread to whatever is made from them, and are errors
only where they reach a result, because partial matches that come to nothing may be any number."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.scalar.arithmetic import addition_overflows, as_float, as_word, sorts_before

# Columns of `lanes`; row 0 stands for the number of matches
KIND = 0
COMPONENT = 1  # whose events count, -1 all
LANE_COLUMNS = 2

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
    """The word of two that a lane for the least or greatest keeps."""
    if kind == LEAST_INT:
        return min(a, b)
    if kind == GREATEST_INT:
        return max(a, b)
    return a if sorts_before(a, b) == (kind == LEAST_FLOAT) else b


@borrowing
def nothing_of(kind):
    """The word of a lane over no event."""
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
    """The lane of `count` matches with one more event in each."""
    if count == 0:
        return word
    if kind == SUM_INT:
        return add_sums(word, multiply_sum(value, count))
    if kind == SUM_FLOAT:
        return as_word(as_float(word) + as_float(value) * np.float64(count))
    return better(kind, word, value)


@borrowing
def joined(kind, count, word, other_count, other):
    """The lane of every match of one set followed by every one of the other."""
    if count == 0 or other_count == 0:
        return nothing_of(kind)
    if kind == SUM_INT:
        return add_sums(multiply_sum(word, other_count), multiply_sum(other, count))
    if kind == SUM_FLOAT:
        return as_word(as_float(word) * np.float64(other_count) + as_float(other) * np.float64(count))
    return better(kind, word, other)


@inlined
def clear(lanes, cells, at):
    cells[at] = 0
    for lane in range(1, lanes.shape[0]):
        cells[at + lane] = nothing_of(lanes[lane, KIND])


@inlined
def set_unit(lanes, cells, at):
    """One match without events."""
    clear(lanes, cells, at)
    cells[at] = 1


@inlined
def add_cell(lanes, cells, at, others, other):
    cells[at] = add_counts(cells[at], others[other])
    for lane in range(1, lanes.shape[0]):
        cells[at + lane] = added(lanes[lane, KIND], cells[at + lane], others[other + lane])


@inlined
def add_bound(lanes, cells, at, others, other, component, values, valid, row):
    """Add the matches of another cell, each with the event of `row` (of `values`) bound to `component`. It may be the same cell."""
    count = others[other]
    for lane in range(1, lanes.shape[0]):
        word = others[other + lane]
        if (lanes[lane, COMPONENT] < 0 or lanes[lane, COMPONENT] == component) and valid[row, lane]:
            word = bound(lanes[lane, KIND], word, count, values[row, lane])
        cells[at + lane] = added(lanes[lane, KIND], cells[at + lane], word)
    cells[at] = add_counts(cells[at], count)


@inlined
def bind(lanes, cells, at, component, values, valid, row):
    """Bind the event to all matches of the cell."""
    for lane in range(1, lanes.shape[0]):
        if (lanes[lane, COMPONENT] < 0 or lanes[lane, COMPONENT] == component) and valid[row, lane]:
            cells[at + lane] = bound(lanes[lane, KIND], cells[at + lane], cells[at], values[row, lane])


@inlined
def add_joined(lanes, cells, at, firsts, first, seconds, second):
    """Add every match of one cell followed by every one of another."""
    count, other = firsts[first], seconds[second]
    cells[at] = add_counts(cells[at], multiply_counts(count, other))
    for lane in range(1, lanes.shape[0]):
        kind = lanes[lane, KIND]
        cells[at + lane] = added(kind, cells[at + lane], joined(kind, count, firsts[first + lane], other, seconds[second + lane]))


@inlined
def add_start(lanes, cells, at, component, values, valid, row):
    """Add the match that consists of the event alone."""
    for lane in range(1, lanes.shape[0]):
        kind = lanes[lane, KIND]
        if (lanes[lane, COMPONENT] < 0 or lanes[lane, COMPONENT] == component) and valid[row, lane]:
            cells[at + lane] = added(kind, cells[at + lane], bound(kind, nothing_of(kind), 1, values[row, lane]))
    cells[at] = add_counts(cells[at], 1)
