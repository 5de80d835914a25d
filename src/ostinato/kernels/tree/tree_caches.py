"""Matches of nested expressions that are kept (the paper's sections III and IV): lists per value, or per interval that was asked for."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, jit
from ostinato.kernels.tree.tree_intervals import add_interval, containing, farthest_from
from ostinato.kernels.tree.tree_layout import (
    ABOVE,
    ENTRIES,
    ENTRY_WIDTH,
    FARTHEST,
    FIRST_RESULT,
    FORM,
    GREATER,
    HIGHEST,
    INTERVAL,
    IS_EMPTY,
    LIST_OF_INTERVALS,
    LOOKED_UP,
    LOWEST,
    MOST_VALUES,
    NEXT_RESULT,
    NOTHING,
    OCCUPIED,
    OF_GROUP,
    OF_KEY,
    PARENT,
    PROGRESS,
    RESULT_EVENTS,
    RESULTS,
    SMALLER,
    UNKNOWN,
    VALUES,
    WHOLE,
)


@borrowing
def entry_place(index, entries, key, group, lowest, line):
    """Where the number of an entry is in the index, or would be. `line` is a line of `entries` that has the values wanted."""
    mask = len(index) - 1
    mixed = np.uint64(key) * np.uint64(0xC2B2AE3D27D4EB4F) + np.uint64(group) * np.uint64(0x165667B19E3779F9)
    mixed = (mixed ^ np.uint64(np.int64(lowest))) * np.uint64(0x9E3779B97F4A7C15)
    for i in range(MOST_VALUES):
        mixed = ((mixed ^ (mixed >> np.uint64(29))) + np.uint64(entries[line, VALUES + i])) * np.uint64(0xBF58476D1CE4E5B9)
    place = np.int64(mixed >> np.uint64(32)) & mask
    while index[place] != NOTHING:
        entry = index[place]
        if entries[entry, OF_KEY] == key and entries[entry, OF_GROUP] == group and entries[entry, LOWEST] == lowest:
            same = True
            for i in range(MOST_VALUES):
                same = same and entries[entry, VALUES + i] == entries[line, VALUES + i]
            if same:
                break
        place = (place + 1) & mask
    return place


@borrowing
def new_entry(entries, key, group, lowest, control):
    """The number of an entry with nothing in it, for the values in the last line; there is room."""
    entry = control[ENTRIES]
    control[ENTRIES] = entry + 1
    entries[entry, OF_KEY], entries[entry, OF_GROUP], entries[entry, LOWEST] = key, group, lowest
    entries[entry, HIGHEST] = entries[entry, FIRST_RESULT] = entries[entry, PARENT] = NOTHING
    entries[entry, SMALLER] = entries[entry, GREATER] = entries[entry, ABOVE] = entries[entry, FARTHEST] = NOTHING
    entries[entry, IS_EMPTY], entries[entry, FORM] = UNKNOWN, LOOKED_UP
    for i in range(MOST_VALUES):
        entries[entry, VALUES + i] = entries[len(entries) - 1, VALUES + i]
    return entry


@borrowing
def want(entries, value):
    """The last line of `entries` holds the values that are wanted: here one."""
    for i in range(MOST_VALUES):
        entries[len(entries) - 1, VALUES + i] = 0
    entries[len(entries) - 1, VALUES] = value


@borrowing
def entry_of(index, entries, key, group, lowest, control):
    """The entry for these and the values in the last line, made if there is none."""
    place = entry_place(index, entries, key, group, lowest, len(entries) - 1)
    if index[place] == NOTHING:
        index[place] = new_entry(entries, key, group, lowest, control)
    return index[place]


@borrowing
def list_of_intervals(index, entries, key, group, lowest, control):
    """The entry that has the root of a tree of intervals, for the values in the last line."""
    found = entry_of(index, entries, key, group, lowest, control)
    entries[found, FORM] = LIST_OF_INTERVALS
    return found


@borrowing
def interval_for(index, entries, key, group, lowest, highest, first, control):
    """The interval that is looked into for another one, whose first row is `first` (section IV.B). One that contains it, the smallest; else
    a new one, which goes on behind the one that reaches farthest into it from the left. One that it reaches into itself is of no use, for
    matches may begin before that; nor is one that lies apart."""
    place = list_of_intervals(index, entries, key, group, PROGRESS, control)
    root = entries[place, SMALLER]
    found = containing(root, lowest, highest, entries)
    if found != NOTHING:
        while entries[found, PARENT] != NOTHING and entries[entries[found, PARENT], HIGHEST] >= highest:
            found = entries[found, PARENT]
        return found
    made = new_entry(entries, key, group, lowest, control)
    entries[made, HIGHEST], entries[made, FORM] = highest, INTERVAL
    before = farthest_from(root, lowest, entries)
    if before != NOTHING and entries[before, HIGHEST] >= first:
        entries[made, PARENT] = before
    entries[place, SMALLER] = add_interval(root, made, entries)
    return made


@borrowing
def flag_for(index, entries, key, group, lowest, highest, control):
    """What is known of a negated expression in an interval, by the values in the last line: nothing is in it if it is contained in an
    empty one, something if it contains one that is not empty; else a new one of which it is not known yet."""
    empty = list_of_intervals(index, entries, key, group, PROGRESS, control)
    found = containing(entries[empty, SMALLER], lowest, highest, entries)
    if found != NOTHING:
        return found
    occupied = list_of_intervals(index, entries, key, group, WHOLE, control)
    found = containing(entries[occupied, SMALLER], -lowest, -highest, entries)
    if found != NOTHING:
        return found
    made = new_entry(entries, key, group, lowest, control)
    entries[made, HIGHEST], entries[made, FORM] = highest, INTERVAL
    return made


@borrowing
def settle_flag(entry, is_empty, entries, index):
    """What was not known is."""
    entries[entry, IS_EMPTY] = is_empty
    if entries[entry, FORM] != INTERVAL:
        return
    if is_empty == OCCUPIED:
        entries[entry, LOWEST], entries[entry, HIGHEST] = -entries[entry, LOWEST], -entries[entry, HIGHEST]
    put_in_order(entry, index, entries)


@borrowing
def put_in_order(entry, index, entries):
    """Into the tree of its list, which is there."""
    kind = WHOLE if entries[entry, IS_EMPTY] == OCCUPIED else PROGRESS
    place = index[entry_place(index, entries, entries[entry, OF_KEY], entries[entry, OF_GROUP], kind, entry)]
    entries[place, SMALLER] = add_interval(entries[place, SMALLER], entry, entries)


@borrowing
def keep_result(entry, entries, results, terms, begin, end, bound, control):
    """The events that are bound, as a match of an entry; there is room."""
    at = control[RESULTS]
    control[RESULTS] = at + 1
    results[at, NEXT_RESULT] = entries[entry, FIRST_RESULT]
    entries[entry, FIRST_RESULT] = at
    for i in range(begin, end):
        results[at, RESULT_EVENTS + i - begin] = bound[terms[i], 0]


@jit("void(int64[::1], int64[:,::1], int64)")
def index_entries(index, entries, count):
    """Into a fresh index; intervals are found through their lists."""
    for entry in range(count):
        if entries[entry, FORM] != INTERVAL:
            place = entry_place(index, entries, entries[entry, OF_KEY], entries[entry, OF_GROUP], entries[entry, LOWEST], entry)
            index[place] = entry


@jit("void(int64[::1], int64[:,::1], int64[::1])")
def order_intervals(index, entries, control):
    """Intervals that lost their lists get new ones; there is room for as many as there were."""
    for entry in range(control[ENTRIES]):
        if entries[entry, FORM] == INTERVAL:
            for i in range(MOST_VALUES):
                entries[len(entries) - 1, VALUES + i] = entries[entry, VALUES + i]
            kind = WHOLE if entries[entry, IS_EMPTY] == OCCUPIED else PROGRESS
            list_of_intervals(index, entries, entries[entry, OF_KEY], entries[entry, OF_GROUP], kind, control)
            put_in_order(entry, index, entries)


@borrowing
def mark_needed(entries, count, first_needed, first_time, needed):
    """Which entries the window has not left behind: lists that end behind the first row that is needed of their key, intervals that in
    addition begin behind its time, and those that such ones go on from."""
    for entry in range(count - 1, -1, -1):
        key, lowest, highest = entries[entry, OF_KEY], entries[entry, LOWEST], entries[entry, HIGHEST]
        if entries[entry, FORM] == LIST_OF_INTERVALS:
            continue
        if entries[entry, IS_EMPTY] == OCCUPIED and entries[entry, FORM] == INTERVAL:
            needed[entry] = -lowest >= first_time[key]
            continue
        begins = lowest <= PROGRESS or lowest >= first_time[key] or needed[entry]
        needed[entry] = begins and (highest == NOTHING or highest >= first_needed[key])
        if needed[entry] and entries[entry, PARENT] != NOTHING:
            needed[entries[entry, PARENT]] = True


@jit("void(int64[:,::1], int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[:,::1], int64[:,::1], int64[::1])")
def purge(entries, results, first_needed, first_time, offset, base, kept_entries, kept_results, control):
    """What the window has left behind is given up: matches with an event before the first row that is needed of their key, entries that
    are not needed, lists that are empty then. Lists of intervals are made anew."""
    count = control[ENTRIES]
    place = np.full(count, NOTHING, np.int64)
    needed = np.zeros(count, np.bool_)
    mark_needed(entries, count, first_needed, first_time, needed)
    control[ENTRIES] = control[RESULTS] = 0
    for entry in range(count):
        if not needed[entry]:
            continue
        key = entries[entry, OF_KEY]
        made = place[entry] = control[ENTRIES]
        control[ENTRIES] += 1
        for column in range(ENTRY_WIDTH):
            kept_entries[made, column] = entries[entry, column]
        if entries[entry, PARENT] != NOTHING:
            kept_entries[made, PARENT] = place[entries[entry, PARENT]]
        kept_entries[made, FIRST_RESULT] = last = NOTHING
        result = entries[entry, FIRST_RESULT]
        while result != NOTHING:
            alive = True
            for i in range(RESULT_EVENTS, results.shape[1]):
                alive = alive and (results[result, i] == NOTHING or results[result, i] >= first_needed[key])
            if alive:
                at = control[RESULTS]
                control[RESULTS] += 1
                for i in range(RESULT_EVENTS, results.shape[1]):
                    kept_results[at, i] = results[result, i]
                kept_results[at, NEXT_RESULT] = NOTHING
                if last == NOTHING:
                    kept_entries[made, FIRST_RESULT] = at
                else:
                    kept_results[last, NEXT_RESULT] = at
                last = at
            result = results[result, NEXT_RESULT]
        if entries[entry, LOWEST] == WHOLE and entries[entry, HIGHEST] == NOTHING and last == NOTHING:
            control[ENTRIES] -= 1
