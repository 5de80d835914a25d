"""The search over a nested pattern: a machine that takes the steps of a plan and turns back where one finds nothing more.

A level of the stack is a step that was taken. Going on is `is_retry` = 0 with a new level on top, turning back is `is_retry` = 1 with the
level before. All of it lies in arrays, so that a call may end anywhere (no room for matches) and the next one goes on."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing
from ostinato.kernels.scalar.scalar import NOT_TRUE, evaluate
from ostinato.kernels.tree.tree_layout import (
    ABSENT,
    AFTER,
    AFTER_END,
    AT,
    AT_PLAN,
    AT_TRIGGER,
    BASE,
    BEFORE,
    BEFORE_END,
    BEYOND,
    BIND,
    CHAIN,
    CHAIN_SLOT,
    CHAIN_VARIABLE,
    CONTEXT,
    COUNTS,
    CURSOR,
    DONE,
    ENDS_MATCH,
    ERROR,
    EVENTS,
    EXTENDED,
    FAILED,
    FIRST,
    FIRST_END,
    FOUND,
    GIVEN,
    GIVEN_FROM,
    GIVEN_TO,
    HEAD_ORDINAL,
    HIGH_ORDINAL,
    INCLUDING,
    INNER,
    IS_LATER,
    IS_RETRY,
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
    LOOKS,
    LOW,
    LOW_ORDINAL,
    LOW_TIME,
    MATCH,
    MATCHES,
    NEW,
    NEXT,
    NOTHING,
    OPENED_AT,
    OUTPUT_FULL,
    OVER_STEPS,
    PASSED,
    PHASE,
    READ,
    RIGHT,
    RIGHT_END,
    RIGHT_KIND,
    SHARES,
    STACK_FULL,
    STEP_LIMIT,
    STEPS,
    TESTS,
    TESTS_END,
    TO_ARENA,
    TRIGGER,
    VARIABLE,
    WENT_ON,
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
def is_bound(ordinal, level, stack, steps):
    """Whether an event has a place in what is bound already."""
    for i in range(level):  # noqa: SIM110 (compiled)
        if stack[i, CURSOR] == ordinal and steps[stack[i, AT], KIND] < ABSENT:
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
    found = heads[head_place(heads, control[KEY], chain, slots[row, slot]), HEAD_ORDINAL]
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
    return last >= control[BASE] and times[last + to_arena] >= low


@borrowing
def write_match(level, steps, stack, control, out_keys, out_plans, out_offsets, out_ordinals, out_variables):
    """The events of the match in their order. False: there is no room."""
    count, at = control[MATCHES], control[EVENTS]
    if count >= len(out_keys) or at + level > len(out_ordinals):
        return False
    end = at
    for i in range(level):
        step = stack[i, AT]
        if steps[step, KIND] < ABSENT and steps[step, CONTEXT] == 0:
            place = end
            while place > at and out_ordinals[place - 1] > stack[i, CURSOR]:
                out_ordinals[place] = out_ordinals[place - 1]
                out_variables[place] = out_variables[place - 1]
                place -= 1
            out_ordinals[place] = stack[i, CURSOR]
            out_variables[place] = steps[step, VARIABLE]
            end += 1
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
def search(
    steps, terms, tests, code, scratch, scratch_valid, ranks, times, slots, slot_valid, links, chains, heads,
    stack, registers, register_valid, bound, contexts, control, given_ordinals, given_variables,
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
                if not (steps[step, SHARES] and is_bound(at, level, stack, steps)):
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
            elif not write_match(level, steps, stack, control, out_keys, out_plans, out_offsets, out_ordinals, out_variables):
                status = OUTPUT_FULL
                break
        elif kind == ABSENT:
            if retry == 0 and open_interval(step, level, terms, steps, stack, times, bound, contexts, control):
                stack[level, PHASE], stack[level, CURSOR] = LOOKS, NOTHING
                level += 1
                stack[level, AT], stack[level, IS_LATER], stack[level, LINE] = steps[step, INNER], 0, stack[level - 1, LINE]
                continue
            going_on = retry == 0 or stack[level, PHASE] == LOOKS
            stack[level, PHASE], stack[level, CURSOR] = PASSED, NOTHING
            stack[level + 1, LINE] = stack[level, LINE]
        elif kind == FOUND:
            level = contexts[steps[step, CONTEXT], OPENED_AT]
        elif kind == TRIGGER or kind == GIVEN:
            if retry == 0:
                at, place = control[AT_TRIGGER], NOTHING
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
                        high = control[AT_TRIGGER]
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
                    if (link < 0 or links[at + control[TO_ARENA], link] == at) and not is_bound(at, level, stack, steps):
                        result = bind(
                            step, later, level, at, steps, code, scratch, scratch_valid, ranks, slots, slot_valid, registers,
                            register_valid, stack, bound, control,
                        )  # fmt: skip
                        if result < 0:
                            control[ERROR] = result
                            return FAILED
                        if result > 0:
                            if steps[step, ENDS_MATCH] == 0 or at == control[AT_TRIGGER]:
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
