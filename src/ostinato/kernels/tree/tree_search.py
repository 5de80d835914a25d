"""The search over a nested pattern: a machine that takes the steps of a plan and turns back where one finds nothing more.

A level of the stack is a step that was taken. Going on is `is_retry` = 0 with a new level on top, turning back is `is_retry` = 1 with the
level before. All of it lies in arrays, so that a call may end anywhere (no room for matches) and the next one goes on."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing
from ostinato.kernels.scalar.scalar import NOT_TRUE, evaluate
from ostinato.kernels.tree.tree_caches import entry_of, entry_place, interval_for, keep_result, want
from ostinato.kernels.tree.tree_layout import (
    ABSENT,
    AFTER,
    AFTER_END,
    AT,
    AT_PLAN,
    BASE,
    BEFORE,
    BEFORE_END,
    BEYOND,
    BIND,
    BY_EVENTS,
    CACHE_HITS,
    CACHE_LOADS,
    CACHED,
    CACHES_FULL,
    CHAIN,
    CHAIN_SLOT,
    CHAIN_VARIABLE,
    COMPLETED_BY,
    CONTEXT,
    COUNTS,
    CURSOR,
    CUTS,
    DEPENDS,
    DEPENDS_END,
    DONE,
    EMPTY,
    ENDS_MATCH,
    ENTRIES,
    ENTRY,
    ERROR,
    EVENTS,
    EXTENDED,
    FAILED,
    FIRST,
    FIRST_END,
    FIRST_RESULT,
    FLAGGED,
    FOUND,
    GIVEN,
    GIVEN_FROM,
    GIVEN_TO,
    GROUP,
    HEAD_EVENTS,
    HEAD_SLOT,
    HIGH_ORDINAL,
    HIGHEST,
    INCLUDING,
    INNER,
    IS_EMPTY,
    IS_LATER,
    IS_RETRY,
    IS_SEMANTIC,
    KEY,
    KIND,
    LAST,
    LATER,
    LATER_END,
    LEFT,
    LEFT_END,
    LEFT_KIND,
    LEVEL,
    LINE,
    LINK,
    LOADED,
    LOADING_PLAN,
    LOADS,
    LOOKS,
    LOW,
    LOW_ORDINAL,
    LOW_TIME,
    MATCH,
    MATCHES,
    MEMBER,
    MEMBER_SLOT,
    MEMBERS,
    MEMBERS_END,
    NEW,
    NEXT,
    NEXT_RESULT,
    NOTHING,
    OCCUPIED,
    OPENED_AT,
    OUTPUT_FULL,
    OVER_STEPS,
    OWN_SLOT,
    PARENT,
    PASSED,
    PHASE,
    PLANS,
    PLANS_END,
    PROGRESS,
    READ,
    RESULT_EVENTS,
    RESULTS,
    RIGHT,
    RIGHT_END,
    RIGHT_KIND,
    SEES_FROM,
    SHARES,
    STACK_FULL,
    STEP_LIMIT,
    STEPS,
    STORE,
    TESTS,
    TESTS_END,
    TO_ARENA,
    TRIGGER,
    UNKNOWN,
    VALUES,
    VARIABLE,
    WENT_ON,
    WHOLE,
    WITHIN,
)
from ostinato.kernels.tree.tree_links import head_place

FIRST_OF, LAST_OF = 0, 1  # columns of `bound`: the first and last event of a variable


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
        found = chains[found + control[TO_ARENA], chain]
    return found


@borrowing
def next_candidate(step, ordinal, steps, links, chains, control):
    chain, link = steps[step, CHAIN], steps[step, LINK]
    if chain >= 0:
        return chains[ordinal + control[TO_ARENA], chain]
    if link < 0 or ordinal == control[BASE]:
        return ordinal - 1
    return links[ordinal - 1 + control[TO_ARENA], link]


@borrowing
def tests_hold(step, line, row, steps, tests, code, scratch, scratch_valid, ranks, slots, slot_valid, registers, register_valid):
    """1: all hold; 0: not; less: an error."""
    for i in range(steps[step, TESTS], steps[step, TESTS_END]):
        result = evaluate(
            code, tests[i, 0], tests[i, 1], scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, line, line
        )
        if result <= NOT_TRUE:
            return result
    return 1


@borrowing
def bind(
    step, later, level, ordinal, steps, code, scratch, scratch_valid, ranks, slots, slot_valid, registers, register_valid, stack, bound,
    control,
):  # fmt: skip
    """Give the event to the variable of the step, if the conditions of its iterations allow it: 1 if so, 0 if not, less: an error. The
    registers of the next level hold what it brings."""
    start, end = (steps[step, LATER], steps[step, LATER_END]) if later else (steps[step, FIRST], steps[step, FIRST_END])
    line = stack[level, LINE]
    if start < end:
        row = ordinal + control[TO_ARENA]
        result = evaluate(
            code, start, end, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, line, level + 1
        )
        if result <= NOT_TRUE:
            return result
        line = level + 1
    stack[level, CURSOR] = ordinal
    stack[level + 1, LINE] = line
    variable = steps[step, VARIABLE]
    bound[variable, LAST_OF] = ordinal
    if not later:
        bound[variable, FIRST_OF] = ordinal
    return 1


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
def write_event(ordinal, variable, begin, end, out_ordinals, out_variables):
    """Put an event to its place among those from `begin` to `end`; returns the new end."""
    place = end
    while place > begin and out_ordinals[place - 1] > ordinal:
        out_ordinals[place] = out_ordinals[place - 1]
        out_variables[place] = out_variables[place - 1]
        place -= 1
    out_ordinals[place] = ordinal
    out_variables[place] = variable
    return end + 1


@borrowing
def write_match(level, steps, terms, stack, bound, control, out_keys, out_plans, out_offsets, out_ordinals, out_variables):
    """The events of the match in their order. False: there is no room."""
    count, at = control[MATCHES], control[EVENTS]
    if count >= len(out_keys) or at + level + len(bound) > len(out_ordinals):
        return False
    end = at
    for i in range(level):
        step = stack[i, AT]
        if steps[step, KIND] < ABSENT and steps[step, CONTEXT] == 0:
            end = write_event(stack[i, CURSOR], steps[step, VARIABLE], at, end, out_ordinals, out_variables)
        elif steps[step, KIND] == CACHED and steps[step, CONTEXT] == 0:
            for j in range(steps[step, MEMBERS], steps[step, MEMBERS_END]):
                end = write_event(bound[terms[j], LAST_OF], terms[j], at, end, out_ordinals, out_variables)
    out_keys[count], out_plans[count] = control[KEY], control[AT_PLAN]
    out_offsets[count + 1] = end
    control[MATCHES], control[EVENTS] = count + 1, end
    return True


@borrowing
def next_given(variable, place, given_variables, control):
    """The place of the next event of a variable in a given match, -1 if there is none."""
    for i in range(place, control[GIVEN_TO]):
        if given_variables[i] == variable:
            return i
    return -1


@borrowing
def has_room(control, index, entries, results):
    """For one entry and one result more, wherever they are needed."""
    return 2 * (control[ENTRIES] + 2) <= len(index) and control[ENTRIES] + 3 <= len(entries) and control[RESULTS] < len(results)


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
        entry = interval_for(index, entries, key, group, low, high, control)
        is_new = entry == made
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
    want(entries, contexts[context, HIGH_ORDINAL])
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
    entry = entry_of(index, entries, control[KEY], steps[step, GROUP], contexts[context, LOW_TIME], control)
    control[CACHE_LOADS if entry == made else CACHE_HITS] += 1
    stack[level, ENTRY] = entry
    return entries[entry, IS_EMPTY]


@borrowing
def cut_back(level, stack, steps):
    """What must not be there was found in the interval that this level opened: the level to turn back from. Where all further events of
    a variable only make the interval longer, none of them is looked at."""
    decides = steps[stack[level, AT], CUTS]
    if decides >= 0:
        while stack[level, AT] != decides:
            level -= 1
    return level


@borrowing
def search(
    steps, terms, tests, code, scratch, scratch_valid, ranks, times, slots, slot_valid, links, chains, heads,
    stack, registers, register_valid, bound, contexts, control, index, entries, results, group_plans, given_ordinals, given_variables,
    out_keys, out_plans, out_offsets, out_ordinals, out_variables,
):  # fmt: skip
    """Go on until there is nothing more to find, or the call must end."""
    level, retry = control[LEVEL], control[IS_RETRY]
    status = DONE
    while level >= 0:
        if level + 2 > len(stack):
            status = STACK_FULL
            break
        step = stack[level, AT]
        kind = steps[step, KIND]
        going_on = False
        if kind == BIND:
            low_time = stack[level, LOW]
            if retry == 0:
                low_time = stack[level, LOW] = earliest_time(step, steps, terms, times, bound, contexts, control)
                high = latest_ordinal(step, steps, terms, times, bound, contexts, control)
                at = first_candidate(step, high, steps, bound, slots, slot_valid, links, chains, heads, control)
            else:
                at = next_candidate(step, stack[level, CURSOR], steps, links, chains, control)
            least = control[BASE] if steps[step, CONTEXT] else max(control[BASE], control[LOW_ORDINAL])
            while at >= least and times[at + control[TO_ARENA]] >= low_time:
                control[STEPS] += 1
                if not (steps[step, SHARES] and is_bound(at, contexts[steps[step, CONTEXT], SEES_FROM], level, stack, steps, terms, bound)):
                    result = bind(
                        step, False, level, at, steps, code, scratch, scratch_valid, ranks, slots, slot_valid, registers, register_valid,
                        stack, bound, control,
                    )  # fmt: skip
                    if result > 0:
                        result = tests_hold(
                            step, stack[level + 1, LINE], at + control[TO_ARENA], steps, tests, code, scratch, scratch_valid, ranks, slots,
                            slot_valid, registers, register_valid,
                        )  # fmt: skip
                    if result > 0:
                        going_on = True
                        break
                    if result < 0:
                        control[ERROR] = result
                        return FAILED
                at = next_candidate(step, at, steps, links, chains, control)
            if not going_on and control[STEPS] > control[STEP_LIMIT]:
                return OVER_STEPS
        elif kind == MATCH:
            if control[COUNTS]:
                control[MATCHES] += 1
            elif not write_match(level, steps, terms, stack, bound, control, out_keys, out_plans, out_offsets, out_ordinals, out_variables):
                status = OUTPUT_FULL
                break
        elif kind == ABSENT:
            looks = retry == 0 and open_interval(step, level, terms, steps, stack, times, bound, contexts, control)
            known = UNKNOWN
            if looks and steps[step, FLAGGED]:
                if not has_room(control, index, entries, results):
                    status = CACHES_FULL
                    break
                known = flag_of(step, level, steps, terms, stack, slots, slot_valid, bound, contexts, control, index, entries)
            if known == OCCUPIED:
                level = cut_back(level, stack, steps) - 1
                retry = 1
                continue
            if looks and known == UNKNOWN:
                stack[level, PHASE], stack[level, CURSOR] = LOOKS, NOTHING
                level += 1
                stack[level, AT], stack[level, IS_LATER], stack[level, LINE] = steps[step, INNER], 0, stack[level - 1, LINE]
                continue
            going_on = retry == 0 or stack[level, PHASE] == LOOKS
            if retry == 1 and going_on and steps[step, FLAGGED]:
                entries[stack[level, ENTRY], IS_EMPTY] = EMPTY
            stack[level, PHASE], stack[level, CURSOR] = PASSED, NOTHING
            stack[level + 1, LINE] = stack[level, LINE]
        elif kind == FOUND:
            level = contexts[steps[step, CONTEXT], OPENED_AT]
            if steps[stack[level, AT], FLAGGED]:
                entries[stack[level, ENTRY], IS_EMPTY] = OCCUPIED
            level = cut_back(level, stack, steps)
        elif kind == STORE:
            if not has_room(control, index, entries, results):
                status = CACHES_FULL
                break
            store(step, steps, terms, stack, bound, slots, slot_valid, contexts, control, index, entries, results)
        elif kind == CACHED:
            if not has_room(control, index, entries, results):
                status = CACHES_FULL
                break
            if retry == 0 and not open_cache(
                step, level, steps, terms, stack, times, slots, slot_valid, bound, contexts, control, index, entries
            ):
                level -= 1
                retry = 1
                continue
            if stack[level, PHASE] == LOADS and load_next(step, level, steps, stack, times, links, contexts, control, entries, group_plans):
                level += 1
                retry = 0
                continue
            if stack[level, PHASE] == WENT_ON:
                at = next_result(stack[level, CURSOR], level, stack, entries, results)
            else:
                at = first_result(step, level, steps, stack, bound, slots, slot_valid, control, index, entries)
            while at != NOTHING:
                control[STEPS] += 1
                result = take_result(
                    at, step, level, steps, terms, times, code, scratch, scratch_valid, ranks, slots, slot_valid, registers,
                    register_valid, stack, bound, contexts, control, results,
                )  # fmt: skip
                if result > 0:
                    result = tests_hold(
                        step, stack[level + 1, LINE], bound[steps[step, MEMBER], LAST_OF] + control[TO_ARENA], steps, tests, code, scratch,
                        scratch_valid, ranks, slots, slot_valid, registers, register_valid,
                    )  # fmt: skip
                if result > 0:
                    going_on = True
                    stack[level, CURSOR], stack[level, PHASE] = at, WENT_ON
                    break
                if result < 0:
                    control[ERROR] = result
                    return FAILED
                if steps[step, IS_SEMANTIC] == 0 and ends_before(at, stack[level, LOW], step, steps, times, control, results):
                    break
                at = next_result(at, level, stack, entries, results)
            if not going_on and control[STEPS] > control[STEP_LIMIT]:
                return OVER_STEPS
        elif kind == TRIGGER or kind == GIVEN:
            if retry == 0:
                at, place = contexts[steps[step, CONTEXT], COMPLETED_BY], NOTHING
                if kind == GIVEN:
                    place = stack[level - 1, LAST] + 1 if stack[level, IS_LATER] else control[GIVEN_FROM]
                    place = next_given(steps[step, VARIABLE], place, given_variables, control)
                    at = given_ordinals[place]
                result = bind(
                    step, stack[level, IS_LATER] == 1, level, at, steps, code, scratch, scratch_valid, ranks, slots, slot_valid, registers,
                    register_valid, stack, bound, control,
                )  # fmt: skip
                if result > 0 and kind == TRIGGER:
                    result = tests_hold(
                        step, stack[level + 1, LINE], at + control[TO_ARENA], steps, tests, code, scratch, scratch_valid, ranks, slots,
                        slot_valid, registers, register_valid,
                    )  # fmt: skip
                if result < 0:
                    control[ERROR] = result
                    return FAILED
                going_on = result > 0
                stack[level, LAST] = place
                if going_on and place >= 0 and next_given(steps[step, VARIABLE], place + 1, given_variables, control) >= 0:
                    level += 1
                    stack[level, AT], stack[level, IS_LATER] = step, 1
                    continue
        else:  # REPEAT
            later = stack[level, IS_LATER] == 1
            extends = retry == 1 and stack[level, PHASE] == WENT_ON
            if not extends:
                if retry == 0:
                    high = latest_ordinal(step, steps, terms, times, bound, contexts, control)
                    if steps[step, ENDS_MATCH]:
                        high = contexts[0, COMPLETED_BY]
                    low_time = earliest_time(step, steps, terms, times, bound, contexts, control)
                    if later:
                        low_time = times[stack[level - 1, CURSOR] + control[TO_ARENA]] + 1
                    to_arena = control[TO_ARENA]
                    at = first_from(times, control[BASE] + to_arena, high + 1 + to_arena, low_time) - to_arena
                    if steps[step, CONTEXT] == 0:
                        at = max(at, control[LOW_ORDINAL])
                    stack[level, LAST] = high
                else:
                    at = stack[level, CURSOR] + 1
                link = steps[step, LINK]
                stack[level, PHASE] = NEW
                while at <= stack[level, LAST]:
                    control[STEPS] += 1
                    if (link < 0 or links[at + control[TO_ARENA], link] == at) and not is_bound(
                        at, contexts[steps[step, CONTEXT], SEES_FROM], level, stack, steps, terms, bound
                    ):
                        result = bind(
                            step, later, level, at, steps, code, scratch, scratch_valid, ranks, slots, slot_valid, registers,
                            register_valid, stack, bound, control,
                        )  # fmt: skip
                        if result < 0:
                            control[ERROR] = result
                            return FAILED
                        if result > 0:
                            if steps[step, ENDS_MATCH] == 0 or at == contexts[0, COMPLETED_BY]:
                                result = tests_hold(
                                    step, stack[level + 1, LINE], at + control[TO_ARENA], steps, tests, code, scratch, scratch_valid,
                                    ranks, slots, slot_valid, registers, register_valid,
                                )  # fmt: skip
                                if result < 0:
                                    control[ERROR] = result
                                    return FAILED
                                going_on = result > 0
                            stack[level, PHASE] = WENT_ON if going_on else EXTENDED
                            extends = not going_on
                            break
                    at += 1
                if control[STEPS] > control[STEP_LIMIT]:
                    return OVER_STEPS
            if extends:
                stack[level, PHASE] = EXTENDED
                if not later:
                    bound[steps[step, VARIABLE], FIRST_OF] = stack[level, CURSOR]
                level += 1
                stack[level, AT], stack[level, IS_LATER] = step, 1
                retry = 0
                continue
            if going_on:
                stack[level, PHASE] = WENT_ON
        if going_on:
            level += 1
            stack[level, AT], stack[level, IS_LATER], stack[level, PHASE] = steps[step, NEXT], 0, NEW
            retry = 0
        else:
            level -= 1
            retry = 1
    control[LEVEL], control[IS_RETRY] = level, retry
    return status
