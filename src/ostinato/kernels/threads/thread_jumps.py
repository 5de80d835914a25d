"""Rows that leave every thread of an attempt as it is are passed at once: the next row that could matter to one of them is searched."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, copied, inlined
from ostinato.kernels.places import place
from ostinato.kernels.scan.scan_dfa import BY_EVENTS, WITHIN
from ostinato.kernels.search.search_bounds import GREATEST, LEAST, interval
from ostinato.kernels.search.search_index import ANYTHING, BUILT, FIRST, PLACE, ROOM, extend, next_row, row_hits, size_of
from ostinato.kernels.search.search_links import FAN, SHIFT, begin_links
from ostinato.kernels.search.search_sorted import begin_tries
from ostinato.kernels.threads.thread_layout import (
    COUNT,
    HALF,
    INDEX_FULL,
    INDEXED,
    NEEDED,
    NODES,
    NODES_FULL,
    OPEN,
    REPEATS,
    WAITS,
    WAY_BOUND_FROM,
    WAY_BOUND_TO,
    WAY_COLUMN,
    WAY_FAILS,
    WAY_TARGET,
    WAY_VARIABLE,
)

_interval = copied(interval)

# Columns of `searched`, a line per transition of the automaton: its search column (-1: none is needed, it can always be made), the bounds
# of the value in that column, and whether they are all that the transition asks for.
COLUMN, BOUND_FROM, BOUND_TO, EXACT = range(4)
SEARCHED_WIDTH = 4

# Columns of `learned`, a line per transition: from one row on and before another no row lies in [LOW, HIGH] (or outside, for loops). These
# are not the bounds that were asked for but as wide as the rows allow (as narrow, for loops), so that they answer many other searches.
# Behind them: the interval of values that the transition asks for with the present registers, and whether it is known.
LEARNED_FROM, LEARNED_TO, LOW, HIGH, ASKED_LOW, ASKED_HIGH, ASKED = range(7)
LEARNED_WIDTH = 7

MOST_THREADS = 4  # with more of them a row matters too often
WORTH_AN_INDEX = 64  # rows
LONGEST_PAUSE = 16  # steps between two searches that lead nowhere


@inlined
def all_wait(threads, marks, control):
    """Whether every thread waits, and one of them for a row."""
    begin = control[HALF] * (len(threads) // 2)
    waits, some = control[COUNT] <= MOST_THREADS, False
    for i in range(begin, begin + min(control[COUNT], MOST_THREADS)):
        waits = waits and marks[threads[i, 0], WAITS] != 0
        some = some or marks[threads[i, 0], OPEN] != 0
    return waits and some


@borrowing
def end_of_window(start, at, limit, shift, times, setting):
    """The row before which the window of an attempt that began at `start` ends, as far as rows are known; those below `at` are inside."""
    within = setting[WITHIN]
    if within < 0:
        return limit
    if setting[BY_EVENTS]:
        return min(limit, start + within)
    low, high, stride = at, limit, 1  # rows below `low` are inside, the end is most often near
    while low + stride < high:
        passed = times[low + stride + shift] - times[start + shift]
        if passed > within or passed < 0:
            high = low + stride
        else:
            low, stride = low + stride + 1, 2 * stride
    while low < high:
        middle = (low + high) >> 1
        passed = times[middle + shift] - times[start + shift]
        if passed > within or passed < 0:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def known_until(m, fails, lo, hi, at, learned):
    """The row before which earlier searches have shown that there is nothing from `at` on; and what they have shown (see `passed_by`)."""
    if learned[m, LEARNED_FROM] <= at and learned[m, LEARNED_TO] > at:
        least, most = learned[m, LOW], learned[m, HIGH]
        if (lo <= least and most <= hi) if fails else (least <= lo and hi <= most):
            return learned[m, LEARNED_TO], least, most
    if fails:
        return at, GREATEST, LEAST
    return at, LEAST, GREATEST


@inlined
def has_index(
    k, at, limit, shift, columns, regions, lows, highs, links, ordered, tries, bits, masks, slots, slot_valid, code, scratch, scratch_valid,
    ranks, registers, register_valid, control,
):  # fmt: skip
    """Let the index of partition k reach to `limit`; False if there is no room for it."""
    if regions[k, PLACE] < 0 or limit - regions[k, FIRST] > regions[k, ROOM] << SHIFT:
        rows = limit - at
        room = ((rows + (rows >> 2)) >> SHIFT) + FAN
        size = size_of(room)
        if control[INDEXED] + size > lows.shape[1]:
            control[NEEDED] = size
            return False
        regions[k, PLACE], regions[k, ROOM], regions[k, FIRST], regions[k, BUILT] = control[INDEXED], room, at, at
        control[INDEXED] += size
        regions[k, ANYTHING] = 0
        begin_links(links, regions[k, PLACE], room)
        begin_tries(tries, regions[k, PLACE], size)
    extend(
        k, limit, shift, columns, regions, lows, highs, links, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks,
        registers, register_valid,
    )  # fmt: skip
    return True


@inlined
def ask(i, state, row, first, ways, bounds, learned, code, scratch, scratch_valid, ranks, slots, slot_valid, registers, register_valid):
    """Compute what the transitions of a state ask for, with registers i. Any row will do."""
    for number in range(first[state], first[state + 1]):
        m = place(number)
        if ways[m, WAY_VARIABLE] >= 0 and ways[m, WAY_COLUMN] >= 0:
            lo, hi, known = _interval(
                ways[m, WAY_BOUND_FROM], ways[m, WAY_BOUND_TO], bounds, code, scratch, scratch_valid, ranks, slots, slot_valid, row,
                registers, register_valid, i,
            )  # fmt: skip
            learned[m, ASKED_LOW], learned[m, ASKED_HIGH], learned[m, ASKED] = lo, hi, known


@inlined
def next_matter_of(
    state, found, k, start, at, limit, shift, first, ways, learned, columns, regions, lows, highs, links, ordered, tries, bits, masks,
    slots, slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid, control,
):  # fmt: skip
    """The first row from `at` on, and before `found`, that may matter to a thread in a state for which was asked; `found` if none does,
    -1 for want of room."""
    for number in range(first[state], first[state + 1]):
        m = place(number)
        c = ways[m, WAY_COLUMN]
        if ways[m, WAY_VARIABLE] < 0 or c < 0 or found <= at:
            continue
        fails = ways[m, WAY_FAILS] != 0
        lo, hi = learned[m, ASKED_LOW], learned[m, ASKED_HIGH]
        if learned[m, ASKED] == 0 or (fails and (lo > hi or (lo == LEAST and hi == GREATEST))):  # a loop that no row satisfies ends at once
            found = at
            continue
        begun, least, most = known_until(m, fails, lo, hi, at, learned)
        if begun >= found:
            continue
        if begun > at and row_hits(
            c, lo, hi, begun + shift, columns, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, registers,
            register_valid,
        ):  # fmt: skip
            found = begun  # most often what ended the earlier search ends this one
            continue
        if found - begun > WORTH_AN_INDEX and (
            regions[k, PLACE] < 0 or regions[k, BUILT] < found
        ) and not has_index(
            k, start, limit, shift, columns, regions, lows, highs, links, ordered, tries, bits, masks, slots, slot_valid, code, scratch,
            scratch_valid, ranks, registers, register_valid, control,
        ):  # fmt: skip
            return np.int64(-1)
        found, least, most = next_row(
            k, c, lo, hi, least, most, start, begun, found, shift, columns, regions, lows, highs, links, ordered, tries, bits, masks, slots,
            slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid, control,
        )  # fmt: skip
        if begun == at or found > begun:
            learned[m, LEARNED_FROM], learned[m, LEARNED_TO], learned[m, LOW], learned[m, HIGH] = at, found, least, most
    return found


@inlined
def next_matter(
    k, start, at, window_end, limit, shift, first, ways, bounds, learned, columns, regions, lows, highs, links, ordered, tries, bits, masks,
    slots, slot_valid, code, scratch, scratch_valid, ranks, threads, registers, register_valid, control,
):  # fmt: skip
    """The first row from `at` on, and before `window_end`, that may matter to a thread; `window_end` if none does, -1 for want of room."""
    begin = control[HALF] * (len(threads) // 2)
    found = window_end
    for i in range(begin, begin + control[COUNT]):
        if found > at:
            ask(
                i, threads[i, 0], at + shift, first, ways, bounds, learned, code, scratch, scratch_valid, ranks, slots, slot_valid,
                registers, register_valid,
            )  # fmt: skip
            found = next_matter_of(
                threads[i, 0], found, k, start, at, limit, shift, first, ways, learned, columns, regions, lows, highs, links, ordered,
                tries, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid, control,
            )  # fmt: skip
    return found


@inlined
def pass_rows(rows, first, ways, marks, threads, registers, register_valid, nodes, control):
    """Let every thread read `rows` rows in the state that it is in; those that cannot are dropped. False for want of room."""
    begin = control[HALF] * (len(threads) // 2)
    if control[NODES] + control[COUNT] > len(nodes):
        return False
    kept = begin
    for i in range(begin, begin + control[COUNT]):
        state = threads[i, 0]
        if marks[state, OPEN] == 0:
            continue
        node = control[NODES]
        for m in range(first[state], first[state + 1]):
            if ways[m, WAY_VARIABLE] >= 0 and ways[m, WAY_TARGET] == state:
                nodes[node, 0], nodes[node, 1] = threads[i, 1], ways[m, WAY_VARIABLE] | (rows - 1) << REPEATS
        control[NODES] = node + 1
        threads[kept, 0], threads[kept, 1] = state, node
        if kept < i:
            for r in range(registers.shape[1]):
                registers[kept, r], register_valid[kept, r] = registers[i, r], register_valid[i, r]
        kept += 1
    control[COUNT] = kept - begin
    return True


@inlined
def jump(
    k, start, at, window_end, limit, shift, first, ways, marks, bounds, learned, columns, regions, lows, highs, links, ordered, tries, bits,
    masks, slots, slot_valid, code, scratch, scratch_valid, ranks, threads, registers, register_valid, nodes, control,
):  # fmt: skip
    """Pass the rows that matter to no thread; returns the row to go on at, or what there is no room for, as -INDEX_FULL or
    -NODES_FULL, and then nothing has changed."""
    to = next_matter(
        k, start, at, window_end, limit, shift, first, ways, bounds, learned, columns, regions, lows, highs, links, ordered, tries, bits,
        masks, slots, slot_valid, code, scratch, scratch_valid, ranks, threads, registers, register_valid, control,
    )  # fmt: skip
    if to < 0:
        return np.int64(-INDEX_FULL)
    if to > at and not pass_rows(to - at, first, ways, marks, threads, registers, register_valid, nodes, control):
        return np.int64(-NODES_FULL)
    return to
