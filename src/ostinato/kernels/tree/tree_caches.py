"""Matches of nested expressions that are kept (the paper's sections III and IV): lists per value, or per interval that was asked for."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, jit
from ostinato.kernels.tree.tree_layout import (
    ENTRIES,
    ENTRY_WIDTH,
    FIRST_RESULT,
    HIGHEST,
    IS_EMPTY,
    LOWEST,
    MOST_VALUES,
    NEXT_RESULT,
    NOTHING,
    OF_GROUP,
    OF_KEY,
    OLDER,
    PARENT,
    PROGRESS,
    RESULT_EVENTS,
    RESULTS,
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
    entries[entry, HIGHEST] = entries[entry, FIRST_RESULT] = entries[entry, PARENT] = entries[entry, OLDER] = NOTHING
    entries[entry, IS_EMPTY] = UNKNOWN
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
def interval_for(index, entries, key, group, lowest, highest, control):
    """The smallest interval with this first time that reaches as far, or a new one that goes on behind the one that reaches farthest.
    Those of one first time are in the order of their last rows, the farthest first: that is the ordered index."""
    place = entry_place(index, entries, key, group, lowest, len(entries) - 1)
    farthest = index[place]
    found, entry = NOTHING, farthest
    while entry != NOTHING and entries[entry, HIGHEST] >= highest:
        found = entry
        entry = entries[entry, OLDER]
    if found != NOTHING:
        return found
    made = new_entry(entries, key, group, lowest, control)
    entries[made, HIGHEST], entries[made, PARENT], entries[made, OLDER] = highest, farthest, farthest
    index[place] = made
    return made


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
    """Into a fresh index. Of several intervals with one first time, the farthest is the last one made."""
    for entry in range(count):
        place = entry_place(index, entries, entries[entry, OF_KEY], entries[entry, OF_GROUP], entries[entry, LOWEST], entry)
        index[place] = entry


@jit("void(int64[:,::1], int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[:,::1], int64[:,::1], int64[::1])")
def purge(entries, results, first_needed, first_time, offset, base, kept_entries, kept_results, control):
    """What the window has left behind is given up: matches with an event before the first row that is needed of their key, intervals that
    begin before its time or end before it, lists that are empty then. Of an interval whose parent is given up the matches of the parent
    are, too."""
    count = control[ENTRIES]
    place = np.full(count, NOTHING, np.int64)
    control[ENTRIES] = control[RESULTS] = 0
    for entry in range(count):
        key, lowest, highest = entries[entry, OF_KEY], entries[entry, LOWEST], entries[entry, HIGHEST]
        if (lowest > PROGRESS and lowest < first_time[key]) or (highest != NOTHING and highest < first_needed[key]):
            continue
        made = place[entry] = control[ENTRIES]
        control[ENTRIES] += 1
        for column in range(ENTRY_WIDTH):
            kept_entries[made, column] = entries[entry, column]
        for column in (PARENT, OLDER):
            if entries[entry, column] != NOTHING:
                kept_entries[made, column] = place[entries[entry, column]]
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
        if lowest == WHOLE and highest == NOTHING and last == NOTHING:
            control[ENTRIES] -= 1
