"""Searching the rows of a partition by value: blocks of rows with the least and the greatest value in them, and blocks of blocks.

Values are compared as integers in the same order (`sort_key`). A search column says which rows count: those with a variable's bits
and a value. In a column of a condition that must hold (an exit) other rows are left out; in one that must fail (a loop) they always
count. Rows with one value, or of a few that share a hash, are linked in a column of which equality is asked (`search_links`); where a
band is asked for, blocks that were searched in vain too often have their values in order (`search_sorted`).
The index of a partition begins at some row and is extended when a search wants to look further than it reaches."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.places import place as index_of
from ostinato.kernels.scalar.arithmetic import HAS_FAILED, IS_VALUE
from ostinato.kernels.search.search_bounds import GREATEST, LEAST, is_nan, is_wide, row_value, sort_key
from ostinato.kernels.search.search_links import FAN, SHIFT, first_linked, hashes, link, next_linked
from ostinato.kernels.search.search_sorted import DEPTH, IN_ORDER, NEVER, has_between, ordered_at, put_in_order
from ostinato.kernels.threads.thread_layout import SEARCHED

# Columns of `columns`, a line per search column: the lines of scalar code that compute the value, where it is then (a cell of the
# scratch, or a slot if nothing is computed), its kind, whether there is a value at all, the variable whose bits count,
# whether the condition must fail, and its line in `links`, or -1, and in `ordered`, or -1.
VALUE_START, VALUE_END, VALUE_AT, KIND, VALUED, VARIABLE, FAILS, LINKED, ORDERED = range(9)
COLUMN_WIDTH = 9

# Columns of `regions`, a line per partition: where its lowest blocks begin (-1: it has no index), how many there is room for, the row
# at which they begin, the row before which they end, and whether some row counts as anything.
PLACE, ROOM, FIRST, BUILT, ANYTHING = range(5)
REGION_WIDTH = 5


@inlined
def counted_as(counts, word, flag, kind, fails):
    """The least and the greatest value that a row counts as: twice its value, nothing, or anything."""
    wide = counts and flag == IS_VALUE and is_wide(word, kind)
    if counts and flag == IS_VALUE and not wide and not is_nan(word, kind):
        key = sort_key(word, kind)
        return key, key
    if fails or flag == HAS_FAILED or wide:
        return LEAST, GREATEST
    return GREATEST, LEAST


@inlined
def row_range(c, row, columns, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid):
    """The same for a row in column c."""
    c = index_of(c)
    mask = masks[index_of(columns[c, VARIABLE])]
    counts = bits[index_of(row)] & mask == mask
    word, flag = np.int64(0), np.int64(IS_VALUE)
    if counts and columns[c, VALUED]:
        word, flag = row_value(
            columns[c, VALUE_START], columns[c, VALUE_END], columns[c, VALUE_AT], code, scratch, scratch_valid, ranks, slots, slot_valid,
            row, registers, register_valid,
        )  # fmt: skip
    return counted_as(counts, word, flag, columns[c, KIND], columns[c, FAILS] != 0)


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
    first, built, count = regions[k, FIRST], regions[k, BUILT], hashes(regions[k, ROOM])
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
                        link(links, columns[c, LINKED], regions[k, PLACE], regions[k, ROOM], count, row - shift - first, least)
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
def row_hits(c, lo, hi, row, columns, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid):
    """Whether a row may lie in [lo, hi], or outside of it if the condition must fail."""
    low, high = row_range(c, row, columns, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid)
    return hits(columns[c, FAILS] != 0, low, high, lo, hi)


@inlined
def passed_by(fails, low, high, lo, hi, least, most):
    """What is known of the rows that a search for [lo, hi] has passed, now that it passes some with values between `low` and `high`: none
    has a value in [least, most]; if the condition must fail, all have theirs in it."""
    if fails:
        return min(least, low), max(most, high)
    if high < lo and low <= high:
        return max(least, high + 1), most
    if low > hi and low <= high:
        return least, min(most, low - 1)
    return least, most


@inlined
def scanned(
    c, lo, hi, least, most, at, until, columns, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, registers,
    register_valid,
):  # fmt: skip
    """The first of these rows that may lie in [lo, hi] (outside, if the condition must fail), else `until`; and what is known of those
    before it, see `passed_by`."""
    fails = columns[c, FAILS] != 0
    if columns[c, VALUE_START] < columns[c, VALUE_END]:
        for row in range(at, until):
            low, high = row_range(
                c, row, columns, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid
            )
            if hits(fails, low, high, lo, hi):
                return row, least, most
            least, most = passed_by(fails, low, high, lo, hi, least, most)
        return until, least, most
    mask, slot, kind, valued = masks[columns[c, VARIABLE]], index_of(columns[c, VALUE_AT]), columns[c, KIND], columns[c, VALUED] != 0
    for row in range(at, until):
        here = index_of(row)
        counts = bits[here] & mask == mask
        word, flag = np.int64(0), np.int64(IS_VALUE)
        if counts and valued:
            word, flag = slots[here, slot], np.int64(slot_valid[here, slot])
        low, high = counted_as(counts, word, flag, kind, fails)
        if hits(fails, low, high, lo, hi):
            return row, least, most
        least, most = passed_by(fails, low, high, lo, hi, least, most)
    return until, least, most


@inlined
def linked_row(
    k, c, key, start, at, until, shift, columns, regions, links, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks,
    registers, register_valid, control,
):  # fmt: skip
    """The first row of partition k from `at` on that has this value, through links between equal values; else `until`."""
    first, place, line = regions[k, FIRST], regions[k, PLACE], columns[c, LINKED]
    row, known = np.int64(-2), at - 1
    while row == -2 and known >= start:  # most often one of them has the value: the row before, if it was found, or the first
        low, high = row_range(
            c, known + shift, columns, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid
        )
        if low == key and high == key:
            row = next_linked(links, line, place, known - first)
        known = start if known > start else start - 1
    if row == -2:
        row = first_linked(links, line, place, regions[k, ROOM], start - first, key)
    while row >= 0 and row + first < until:
        control[SEARCHED] += 1
        if row + first >= at:
            low, high = row_range(
                c, row + first + shift, columns, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, registers,
                register_valid,
            )  # fmt: skip
            if low == key and high == key:
                return row + first
        row = next_linked(links, line, place, row)
    return until


@borrowing
def count_in_vain(
    k, c, level, block, work, shift, columns, regions, ordered, tries, bits, masks, slots, slot_valid, code, scratch, scratch_valid,
    ranks, registers, register_valid,
):  # fmt: skip
    """A whole block was searched in vain, with so much `work`. Put its values in order if that would have cost no more."""
    _, place = level_of(k, level, regions)
    line, begin, size = columns[c, ORDERED], regions[k, FIRST] + (block << (SHIFT * (level + 1))), np.int64(1) << (SHIFT * (level + 1))
    if tries[line, place + block] < 0 or begin + size > regions[k, BUILT]:
        return
    tries[line, place + block] += work
    if tries[line, place + block] <= size >> SHIFT:
        return
    at = ordered_at(regions[k, PLACE], regions[k, ROOM], level, block)
    for row in range(begin, begin + size):
        low, high = row_range(
            c, row + shift, columns, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid
        )
        if low < high:
            tries[line, place + block] = NEVER
            return
        ordered[line, at + row - begin] = low  # a row that does not count is greater than all
    put_in_order(ordered, line, at, size)
    tries[line, place + block] = IN_ORDER


@inlined
def next_row(
    k, c, lo, hi, least, most, start, at, until, shift, columns, regions, lows, highs, links, ordered, tries, bits, masks, slots,
    slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid, control,
):  # fmt: skip
    """The first row of partition k from `at` on that may lie in [lo, hi] (outside, if the condition must fail), else `until`; and
    [least, most] with what is known of the rows before it, see `passed_by`. Blocks are used if they reach so far. What is looked at is
    counted. Nobody will look at rows before `start` again."""
    fails, line = columns[c, FAILS] != 0, columns[c, ORDERED]
    indexed = regions[k, PLACE] >= 0 and regions[k, BUILT] >= until and regions[k, FIRST] <= at
    first, begun, vain = regions[k, FIRST], at, np.int64(0)
    if indexed and columns[c, LINKED] >= 0 and lo == hi and regions[k, ANYTHING] == 0:
        found = linked_row(
            k, c, lo, start, at, until, shift, columns, regions, links, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks,
            registers, register_valid, control,
        )  # fmt: skip
        return found, lo, hi
    place, room, level, block = regions[k, PLACE], regions[k, ROOM], 0, (at - first) >> SHIFT
    while at < until:
        behind, hit = until, True
        if indexed:
            control[SEARCHED] += 1
            low, high = lows[c, place + block], highs[c, place + block]
            hit = hits(fails, low, high, lo, hi)
            if not hit:
                least, most = passed_by(fails, low, high, lo, hi, least, most)
            elif line >= 0 and level > 0 and tries[line, place + block] == IN_ORDER:
                values = ordered_at(regions[k, PLACE], regions[k, ROOM], level, block)
                hit, least, most = has_between(ordered, line, values, np.int64(1) << (SHIFT * (level + 1)), lo, hi, least, most)
            if hit and level > 0:
                level, block = level - 1, block << SHIFT
                room, place = level_of(k, level, regions)
                continue
            behind = min(until, first + ((block + 1) << SHIFT))
        if hit:
            found, least, most = scanned(
                c, lo, hi, least, most, at + shift, behind + shift, columns, bits, masks, slots, slot_valid, code, scratch, scratch_valid,
                ranks, registers, register_valid,
            )  # fmt: skip
            found -= shift
            control[SEARCHED] += found - at
            if found < behind or not indexed:
                return found, least, most
            vain += 1
        block += 1
        at = first + (block << (SHIFT * (level + 1)))
        while at < until and block & (FAN - 1) == 0 and room > FAN:
            place, room, block, level = place + room, (room + FAN - 1) >> SHIFT, block >> SHIFT, level + 1
            if line >= 0 and level <= DEPTH and begun <= first + ((block - 1) << (SHIFT * (level + 1))):
                count_in_vain(
                    k, c, level, block - 1, vain if level == 1 else np.int64(1), shift, columns, regions, ordered, tries, bits, masks,
                    slots, slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid,
                )  # fmt: skip
            vain = np.int64(0)
    return until, least, most


@inlined
def level_of(k, level, regions):
    """How many blocks a level of the index has room for, and where they begin."""
    place, room = regions[k, PLACE], regions[k, ROOM]
    for _ in range(level):
        place, room = place + room, (room + FAN - 1) >> SHIFT
    return room, place
