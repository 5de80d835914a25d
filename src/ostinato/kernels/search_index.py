"""Searching the rows of a partition by value: blocks of rows with the least and the greatest value in them, and blocks of blocks.

Values are compared as integers in the same order (`sort_key`). A search column says which rows count: those with a variable's bits
and a value. In a column of a condition that must hold (an exit) other rows are left out; in one that must fail (a loop) they always
count. Rows with one value, or of a few that share a hash, are linked in a column of which equality is asked (`search_links`).
The index of a partition begins at some row and is extended when a search wants to look further than it reaches."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.arithmetic import HAS_FAILED, IS_VALUE
from ostinato.kernels.search_bounds import GREATEST, LEAST, is_nan, is_wide, row_value, sort_key
from ostinato.kernels.search_links import FAN, SHIFT, first_linked, link, next_linked
from ostinato.kernels.thread_layout import SEARCHED

# Columns of `columns`, a line per search column: the lines of scalar code that compute the value, where it is then (a cell of the
# scratch, or a slot if nothing is computed), its kind, whether there is a value at all, the variable whose bits count,
# whether the condition must fail, and its line in `links`, or -1.
VALUE_START, VALUE_END, VALUE_AT, KIND, VALUED, VARIABLE, FAILS, LINKED = range(8)
COLUMN_WIDTH = 8

# Columns of `regions`, a line per partition: where its lowest blocks begin (-1: it has no index), how many there is room for, the row
# at which they begin, the row before which they end, and whether some row counts as anything.
PLACE, ROOM, FIRST, BUILT, ANYTHING = range(5)
REGION_WIDTH = 5


@inlined
def row_range(c, row, columns, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid):
    """The least and the greatest value that a row counts as in column c: twice its value, nothing, or anything."""
    variable = columns[c, VARIABLE]
    counts = bits[row] & masks[variable] == masks[variable]
    word, flag = np.int64(0), np.int64(IS_VALUE)
    if counts and columns[c, VALUED]:
        word, flag = row_value(
            columns[c, VALUE_START], columns[c, VALUE_END], columns[c, VALUE_AT], code, scratch, scratch_valid, ranks, slots, slot_valid,
            row, registers, register_valid,
        )  # fmt: skip
    wide = counts and flag == IS_VALUE and is_wide(word, columns[c, KIND])
    if counts and flag == IS_VALUE and not wide and not is_nan(word, columns[c, KIND]):
        key = sort_key(word, columns[c, KIND])
        return key, key
    if columns[c, FAILS] or flag == HAS_FAILED or wide:
        return LEAST, GREATEST
    return GREATEST, LEAST


@inlined
def hits(fails, low, high, lo, hi):
    """Whether something between `low` and `high` may lie in [lo, hi], or outside of it if the condition must fail."""
    if fails:
        return low < lo or high > hi
    return high >= lo and low <= hi


@inlined
def size_of(room):
    """How many blocks an index has whose lowest level has `room`."""
    size = room
    while room > 1:
        room = (room + FAN - 1) >> SHIFT
        size += room
    return size


@borrowing
def extend(
    k, until, shift, columns, regions, lows, highs, links, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks,
    registers, register_valid,
):  # fmt: skip
    """Take the rows up to `until` into the index of partition k, which has room for them."""
    first, built = regions[k, FIRST], regions[k, BUILT]
    while built < until:
        block = (built - first) >> SHIFT
        behind = min(until, first + ((block + 1) << SHIFT))
        fresh = (built - first) & (FAN - 1) == 0
        for c in range(len(columns)):
            low, high = np.int64(GREATEST), np.int64(LEAST)
            for row in range(built + shift, behind + shift):
                least, greatest = row_range(
                    c, row, columns, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid
                )
                low, high = min(low, least), max(high, greatest)
                if columns[c, LINKED] >= 0:
                    if least == greatest:
                        link(links, columns[c, LINKED], regions[k, PLACE], regions[k, ROOM], row - shift - first, least)
                    elif least < greatest:
                        regions[k, ANYTHING] = 1
            place, room, at, new = regions[k, PLACE], regions[k, ROOM], block, fresh
            while True:
                if new:
                    lows[c, place + at], highs[c, place + at] = low, high
                else:
                    lows[c, place + at], highs[c, place + at] = min(low, lows[c, place + at]), max(high, highs[c, place + at])
                if room <= 1:
                    break
                new = new and at & (FAN - 1) == 0
                place, room, at = place + room, (room + FAN - 1) >> SHIFT, at >> SHIFT
        built = behind
    regions[k, BUILT] = built


@inlined
def next_row(
    k, c, lo, hi, start, at, until, shift, columns, regions, lows, highs, links, bits, masks, slots, slot_valid, code, scratch,
    scratch_valid, ranks, registers, register_valid, control,
):  # fmt: skip
    """The first row of partition k from `at` on that may lie in [lo, hi] (outside, if the condition must fail), else `until`. Blocks are
    used if they reach so far. What is looked at is counted. Nobody will look at rows before `start` again."""
    fails = columns[c, FAILS] != 0
    indexed = regions[k, PLACE] >= 0 and regions[k, BUILT] >= until and regions[k, FIRST] <= at
    first = regions[k, FIRST]
    if indexed and columns[c, LINKED] >= 0 and lo == hi and regions[k, ANYTHING] == 0:
        row = first_linked(links, columns[c, LINKED], regions[k, PLACE], regions[k, ROOM], start - first, lo)
        if at > start:  # rows that were found before need not be passed again
            low, high = row_range(
                c, at - 1 + shift, columns, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid
            )
            row = next_linked(links, columns[c, LINKED], regions[k, PLACE], at - 1 - first) if low == lo and high == lo else row
        while row >= 0 and row + first < until:
            control[SEARCHED] += 1
            if row + first >= at:
                low, high = row_range(
                    c, row + first + shift, columns, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, registers,
                    register_valid,
                )  # fmt: skip
                if low == lo and high == lo:
                    return row + first
            row = next_linked(links, columns[c, LINKED], regions[k, PLACE], row)
        return until
    while at < until:
        if indexed and (at - first) & (FAN - 1) == 0:
            place, room, level, block = regions[k, PLACE], regions[k, ROOM], 0, (at - first) >> SHIFT
            while True:
                control[SEARCHED] += 1
                if hits(fails, lows[c, place + block], highs[c, place + block], lo, hi):
                    if level == 0:
                        break
                    level -= 1
                    block <<= SHIFT
                    room, place = level_of(k, level, regions)
                else:
                    block += 1
                    at = first + (block << (SHIFT * (level + 1)))
                    if at >= until:
                        return until
                    while block & (FAN - 1) == 0 and room > FAN:
                        place, room, block, level = place + room, (room + FAN - 1) >> SHIFT, block >> SHIFT, level + 1
        control[SEARCHED] += 1
        low, high = row_range(
            c, at + shift, columns, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid
        )
        if hits(fails, low, high, lo, hi):
            return at
        at += 1
    return until


@inlined
def level_of(k, level, regions):
    """How many blocks a level of the index has room for, and where they begin."""
    place, room = regions[k, PLACE], regions[k, ROOM]
    for _ in range(level):
        place, room = place + room, (room + FAN - 1) >> SHIFT
    return room, place
