"""The steps about matches of nested expressions that are kept: what an interval has, what has to be looked for before, and taking them
one by one."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing
from ostinato.kernels.scalar.scalar import NOT_TRUE, evaluate
from ostinato.kernels.tree.tree_bounds import earliest_time, first_from, is_bound, latest_ordinal
from ostinato.kernels.tree.tree_caches import entry_of, entry_place, flag_for, interval_for, keep_result, want
from ostinato.kernels.tree.tree_layout import (
    ALONE,
    AT,
    BASE,
    BY_EVENTS,
    CACHE_HITS,
    CACHE_LOADS,
    CHAIN,
    CHAIN_SLOT,
    CHAIN_VARIABLE,
    COMPLETED_BY,
    CONTEXT,
    CURSOR,
    DEPENDS,
    DEPENDS_END,
    ENTRIES,
    ENTRY,
    FIRST_OF,
    FIRST_RESULT,
    FLAGGED,
    GROUP,
    HIGH_ORDINAL,
    HIGHEST,
    INNER,
    IS_EMPTY,
    IS_LATER,
    IS_SEMANTIC,
    KEY,
    LAST,
    LAST_OF,
    LINE,
    LOADED,
    LOADING_PLAN,
    LOADS,
    LOW,
    LOW_ORDINAL,
    LOW_TIME,
    MEMBER,
    MEMBER_SLOT,
    MEMBERS,
    MEMBERS_END,
    NEW,
    NEXT_RESULT,
    NOTHING,
    OPENED_AT,
    PARENT,
    PHASE,
    PLANS,
    PLANS_END,
    PROGRESS,
    RESULT_EVENTS,
    RESULTS,
    SEES_FROM,
    SHARES,
    TO_ARENA,
    VALUES,
    WHOLE,
    WITHIN,
)


@borrowing
def has_room(control, index, entries, results):
    """For an entry with its lists and one result more, wherever they are needed."""
    return 2 * (control[ENTRIES] + 3) <= len(index) and control[ENTRIES] + 4 <= len(entries) and control[RESULTS] < len(results)


@borrowing
def value_around(step, steps, bound, slots, slot_valid, control):
    """The value by which the matches of a nested expression are kept apart, and whether there is one."""
    if steps[step, CHAIN] < 0:
        return np.int64(0), True
    row = bound[steps[step, CHAIN_VARIABLE], LAST_OF] + control[TO_ARENA]
    return slots[row, steps[step, CHAIN_SLOT]], slot_valid[row, steps[step, CHAIN_SLOT]] == 1


@borrowing
def open_cache(step, level, steps, terms, stack, times, slots, slot_valid, bound, contexts, control, index, entries):
    """Find what is kept for the interval that is asked for, and what has to be looked for before; False if nothing can be there."""
    low = earliest_time(step, steps, terms, times, bound, contexts, control)
    high = latest_ordinal(step, steps, terms, times, bound, contexts, control)
    value, is_there = value_around(step, steps, bound, slots, slot_valid, control)
    to_arena = control[TO_ARENA]
    if not is_there or high < control[BASE] or times[high + to_arena] < low:
        return False
    key, group = control[KEY], steps[step, GROUP]
    want(entries, value if steps[step, IS_SEMANTIC] else 0)
    first = first_from(times, control[BASE] + to_arena, high + 1 + to_arena, max(low, contexts[0, LOW_TIME])) - to_arena
    stack[level, LOW], stack[level, LAST], stack[level, LOADING_PLAN] = low, high, steps[step, PLANS_END] - 1
    if steps[step, IS_SEMANTIC]:
        made = control[ENTRIES]
        entry = interval_for(index, entries, key, group, low, high, first, control)
        is_new = entry >= made
        if is_new and entries[entry, PARENT] != NOTHING:
            first = entries[entries[entry, PARENT], HIGHEST] + 1
    else:
        first = first_from(times, control[BASE] + to_arena, high + 1 + to_arena, contexts[0, LOW_TIME]) - to_arena
        entry = entry_of(index, entries, key, group, PROGRESS, control)
        is_new = entries[entry, HIGHEST] < high
        if is_new:
            first = max(first, entries[entry, HIGHEST] + 1)
            entries[entry, HIGHEST] = high
    stack[level, ENTRY], stack[level, LOADED], stack[level, CURSOR] = entry, first - 1, NOTHING
    stack[level, PHASE] = LOADS if is_new else NEW
    control[CACHE_LOADS if is_new else CACHE_HITS] += 1
    return True


@borrowing
def load_next(step, level, steps, stack, times, links, contexts, control, entries, group_plans):
    """Begin the search for the next matches that have to be kept; False: all are there."""
    plan, ordinal = stack[level, LOADING_PLAN], stack[level, LOADED]
    while True:
        plan += 1
        if plan >= steps[step, PLANS_END] or ordinal < control[BASE]:
            plan = steps[step, PLANS]
            ordinal += 1
            if ordinal > stack[level, LAST]:
                stack[level, PHASE] = NEW
                return False
        if ordinal >= control[BASE]:
            link = group_plans[plan, 1]
            if link < 0 or links[ordinal + control[TO_ARENA], link] == ordinal:
                break
    stack[level, LOADING_PLAN], stack[level, LOADED] = plan, ordinal
    context = steps[group_plans[plan, 0], CONTEXT]
    low = stack[level, LOW]
    if not steps[step, IS_SEMANTIC]:
        within = control[WITHIN]
        low = times[ordinal + control[TO_ARENA]] - within if within >= 0 and not control[BY_EVENTS] else contexts[0, LOW_TIME]
    contexts[context, LOW_TIME], contexts[context, HIGH_ORDINAL], contexts[context, COMPLETED_BY] = low, ordinal - 1, ordinal
    contexts[context, OPENED_AT], contexts[context, SEES_FROM] = level, level + 1
    stack[level + 1, AT], stack[level + 1, LINE], stack[level + 1, IS_LATER] = group_plans[plan, 0], stack[level, LINE], 0
    stack[level + 1, PHASE] = NEW
    return True


@borrowing
def store(step, steps, terms, stack, bound, slots, slot_valid, contexts, control, index, entries, results):
    """Keep a match of a nested expression: in the interval that is looked at, or in the list of its value."""
    opened = contexts[steps[step, CONTEXT], OPENED_AT]
    cached = stack[opened, AT]
    entry, value = stack[opened, ENTRY], np.int64(0)
    if steps[cached, CHAIN] >= 0:
        row, slot = bound[steps[cached, MEMBER], LAST_OF] + control[TO_ARENA], steps[cached, MEMBER_SLOT]
        value = slots[row, slot]
        if slot_valid[row, slot] != 1 or (steps[cached, IS_SEMANTIC] and value != entries[entry, VALUES]):
            return
    if not steps[cached, IS_SEMANTIC]:
        want(entries, value)
        entry = entry_of(index, entries, control[KEY], steps[cached, GROUP], WHOLE, control)
    keep_result(entry, entries, results, terms, steps[cached, MEMBERS], steps[cached, MEMBERS_END], bound, control)


@borrowing
def first_result(step, level, steps, stack, bound, slots, slot_valid, control, index, entries):
    """The first match that is kept for what is asked."""
    entry = stack[level, ENTRY]
    if not steps[step, IS_SEMANTIC]:
        value, _ = value_around(step, steps, bound, slots, slot_valid, control)
        want(entries, value)
        entry = index[entry_place(index, entries, control[KEY], steps[step, GROUP], WHOLE, len(entries) - 1)]
    while entry != NOTHING and entries[entry, FIRST_RESULT] == NOTHING:
        entry = entries[entry, PARENT]
    stack[level, ENTRY] = entry
    return NOTHING if entry == NOTHING else entries[entry, FIRST_RESULT]


@borrowing
def next_result(at, level, stack, entries, results):
    """Behind the matches of an interval come those of the one that it goes on from."""
    following = results[at, NEXT_RESULT]
    while following == NOTHING:
        entry = entries[stack[level, ENTRY], PARENT]
        if entry == NOTHING:
            return NOTHING
        stack[level, ENTRY] = entry
        following = entries[entry, FIRST_RESULT]
    return following


@borrowing
def take_result(
    at, step, level, steps, terms, times, code, scratch, scratch_valid, ranks, slots, slot_valid, registers, register_valid, stack, bound,
    contexts, control, results,
):  # fmt: skip
    """Bind the events of a match that is kept, if it lies in the interval that is asked for."""
    begin, end = steps[step, MEMBERS], steps[step, MEMBERS_END]
    least = control[BASE] if steps[step, CONTEXT] else max(control[BASE], control[LOW_ORDINAL])
    for i in range(begin, end):
        event = results[at, RESULT_EVENTS + i - begin]
        if event > stack[level, LAST] or event < least or times[event + control[TO_ARENA]] < stack[level, LOW]:
            return 0
        if steps[step, SHARES] and is_bound(event, contexts[steps[step, CONTEXT], SEES_FROM], level, stack, steps, terms, bound):
            return 0
    stack[level + 1, LINE] = stack[level, LINE]
    for i in range(begin, end):
        event, variable = results[at, RESULT_EVENTS + i - begin], terms[i]
        start, stop = terms[end + 2 * (i - begin)], terms[end + 2 * (i - begin) + 1]
        if start < stop:
            result = evaluate(
                code, start, stop, scratch, scratch_valid, ranks, slots, slot_valid, event + control[TO_ARENA], registers, register_valid,
                stack[level + 1, LINE], level + 1,
            )  # fmt: skip
            if result <= NOT_TRUE:
                return result
            stack[level + 1, LINE] = level + 1
        bound[variable, FIRST_OF] = bound[variable, LAST_OF] = event
    return 1


@borrowing
def ends_before(at, low, step, steps, times, control, results):
    """Whether a match that is kept ends before a time: in a list they are by their last events, the latest first, so that no other
    reaches it either."""
    for i in range(steps[step, MEMBERS_END] - steps[step, MEMBERS]):
        event = results[at, RESULT_EVENTS + i]
        if event >= control[BASE] and times[event + control[TO_ARENA]] >= low:
            return False
    return True


@borrowing
def flag_of(step, level, steps, terms, stack, slots, slot_valid, bound, contexts, control, index, entries):
    """What is known about a negated expression in the interval that was opened, with the values around it that it depends on. `terms` has
    them as pairs (variable, slot), with slot -1 for the event itself."""
    context = steps[steps[step, INNER], CONTEXT]
    low, high = contexts[context, LOW_TIME], contexts[context, HIGH_ORDINAL]
    want(entries, high if steps[step, FLAGGED] == ALONE else 0)
    line, at = len(entries) - 1, VALUES + 1
    for i in range(steps[step, DEPENDS], steps[step, DEPENDS_END], 2):
        event, slot = bound[terms[i], LAST_OF], terms[i + 1]
        entries[line, at] = event
        if slot >= 0:
            row = event + control[TO_ARENA]
            entries[line, at] = slots[row, slot] if slot_valid[row, slot] == 1 else NOTHING
            at += 1
            entries[line, at] = slot_valid[row, slot]
        at += 1
    made = control[ENTRIES]
    if steps[step, FLAGGED] == ALONE:
        entry = entry_of(index, entries, control[KEY], steps[step, GROUP], low, control)
    else:
        entry = flag_for(index, entries, control[KEY], steps[step, GROUP], low, high, control)
    control[CACHE_LOADS if entry >= made else CACHE_HITS] += 1
    stack[level, ENTRY] = entry
    return entries[entry, IS_EMPTY]
