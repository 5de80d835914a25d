"""Where the events of a step may lie: between those that are bound already, in the window, in the interval of a negation."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing
from ostinato.kernels.tree.tree_layout import (
    ABSENT,
    AFTER,
    AFTER_END,
    AT,
    BASE,
    BEFORE,
    BEFORE_END,
    BEYOND,
    CACHED,
    CHAIN,
    CHAIN_COLUMN,
    CHAIN_SLOT,
    CHAIN_VARIABLE,
    CONTEXT,
    COUNTED,
    CURSOR,
    FIRST_OF,
    HEAD_EVENTS,
    HEAD_SLOT,
    HIGH_ORDINAL,
    INCLUDING,
    INNER,
    KEY,
    KIND,
    LAST_OF,
    LEFT,
    LEFT_END,
    LEFT_KIND,
    LINK,
    LOW_ORDINAL,
    LOW_TIME,
    MEMBERS,
    MEMBERS_END,
    NOTHING,
    OPENED_AT,
    OWN_SLOT,
    PHASE,
    READ,
    RIGHT,
    RIGHT_END,
    RIGHT_KIND,
    SEES_FROM,
    TO_ARENA,
    WENT_ON,
    WITHIN,
)
from ostinato.kernels.tree.tree_links import head_place


@borrowing
def first_from(times, low, high, time):
    """The first place in [low, high) with this time or a later one."""
    while low < high:
        middle = (low + high) >> 1
        if times[middle] < time:
            low = middle + 1
        else:
            high = middle
    return low


@borrowing
def is_bound(ordinal, first, level, stack, steps, terms, bound):
    """Whether an event has a place in what the levels [first, level) have bound."""
    for i in range(first, level):
        step = stack[i, AT]
        kind = steps[step, KIND]
        if kind < ABSENT:
            if stack[i, CURSOR] == ordinal:
                return True
        elif kind == CACHED and stack[i, PHASE] == WENT_ON:
            for j in range(steps[step, MEMBERS], steps[step, MEMBERS_END]):
                if bound[terms[j], LAST_OF] == ordinal:
                    return True
    return False


@borrowing
def earliest_time(step, steps, terms, times, bound, contexts, control):
    """From when on the variable of a step may have its events."""
    low = contexts[steps[step, CONTEXT], LOW_TIME]
    for i in range(steps[step, AFTER], steps[step, AFTER_END]):
        low = max(low, times[bound[terms[i], LAST_OF] + control[TO_ARENA]] + 1)
    return low


@borrowing
def latest_ordinal(step, steps, terms, times, bound, contexts, control):
    """The last row before everything that has to come later."""
    to_arena = control[TO_ARENA]
    high = contexts[steps[step, CONTEXT], HIGH_ORDINAL]
    for i in range(steps[step, BEFORE], steps[step, BEFORE_END]):
        later = bound[terms[i], FIRST_OF]
        time = times[later + to_arena]
        high = min(high, later - 1)
        while high >= control[BASE] and times[high + to_arena] >= time:
            high -= 1
    return high


@borrowing
def first_candidate(step, high, steps, bound, slots, slot_valid, links, chains, heads, control):
    """The latest event for a step, at `high` or before it; NOTHING or less than the first row if there is none."""
    if high < control[BASE]:
        return NOTHING
    chain = steps[step, CHAIN]
    if chain < 0:
        link = steps[step, LINK]
        return high if link < 0 else links[high + control[TO_ARENA], link]
    row, slot = bound[steps[step, CHAIN_VARIABLE], LAST_OF] + control[TO_ARENA], steps[step, CHAIN_SLOT]
    if slot_valid[row, slot] != 1:
        return NOTHING
    place = head_place(heads, control[KEY], steps[step, OWN_SLOT], slots[row, slot])
    found = heads[place, HEAD_EVENTS + chain] if heads[place, HEAD_SLOT] != 0 else NOTHING
    while found > high:
        found = chains[found + control[TO_ARENA], steps[step, CHAIN_COLUMN]]
    return found


@borrowing
def next_candidate(step, ordinal, steps, links, chains, control):
    link = steps[step, LINK]
    if steps[step, CHAIN] >= 0:
        return chains[ordinal + control[TO_ARENA], steps[step, CHAIN_COLUMN]]
    if link < 0 or ordinal == control[BASE]:
        return ordinal - 1
    return links[ordinal - 1 + control[TO_ARENA], link]


@borrowing
def limit_time(kind, begin, end, is_left, level, terms, steps, stack, times, bound, contexts, control):
    """The first or last time of an interval."""
    to_arena = control[TO_ARENA]
    if kind == BEYOND:
        found = times[bound[terms[begin], LAST_OF if is_left else FIRST_OF] + to_arena]
        for i in range(begin + 1, end):
            if is_left:
                found = max(found, times[bound[terms[i], LAST_OF] + to_arena])
            else:
                found = min(found, times[bound[terms[i], FIRST_OF] + to_arena])
        return found + 1 if is_left else found - 1
    if kind == INCLUDING:
        found = times[bound[terms[begin], FIRST_OF if is_left else LAST_OF] + to_arena]
        for i in range(begin + 1, end):
            if is_left:
                found = min(found, times[bound[terms[i], FIRST_OF] + to_arena])
            else:
                found = max(found, times[bound[terms[i], LAST_OF] + to_arena])
        return found
    if is_left:
        return contexts[0, LOW_TIME]
    first = np.int64(0x7FFFFFFFFFFFFFFF)
    for i in range(level):
        if steps[stack[i, AT], KIND] < ABSENT and steps[stack[i, AT], CONTEXT] == 0:
            first = min(first, times[stack[i, CURSOR] + to_arena])
    return first + control[WITHIN]


@borrowing
def open_interval(step, level, terms, steps, stack, times, bound, contexts, control):
    """Prepare the context in which something must not be; False if there is no room for anything."""
    low = limit_time(
        steps[step, LEFT_KIND], steps[step, LEFT], steps[step, LEFT_END], True, level, terms, steps, stack, times, bound, contexts, control
    )
    high = limit_time(
        steps[step, RIGHT_KIND], steps[step, RIGHT], steps[step, RIGHT_END], False, level, terms, steps, stack, times, bound, contexts,
        control,
    )  # fmt: skip
    if high < low:
        return False
    to_arena, context = control[TO_ARENA], steps[steps[step, INNER], CONTEXT]
    last = first_from(times, control[BASE] + to_arena, control[READ] + to_arena, high + 1) - 1 - to_arena
    contexts[context, LOW_TIME], contexts[context, HIGH_ORDINAL], contexts[context, OPENED_AT] = low, last, level
    contexts[context, SEES_FROM] = contexts[steps[step, CONTEXT], SEES_FROM]
    return last >= control[BASE] and times[last + to_arena] >= low


@borrowing
def events_between(step, high, low_time, steps, times, links, control):
    """How many events a step could take, from a time on and up to a row."""
    to_arena, base, number = control[TO_ARENA], control[BASE], steps[step, COUNTED]
    first = max(first_from(times, base + to_arena, high + 1 + to_arena, low_time) - to_arena, control[LOW_ORDINAL], base)
    if first > high:
        return np.int64(0)
    if first > base:
        return links[high + to_arena, number] - links[first - 1 + to_arena, number]
    is_one = np.int64(links[first + to_arena, steps[step, LINK]] == first)
    return links[high + to_arena, number] - links[first + to_arena, number] + is_one
