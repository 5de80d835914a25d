"""What each kind of step does: take an event or several, look for what must not be there, take a match that is kept.

Steps are copied into the search: handing them two dozen arrays would cost more than most of them do."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.scalar.scalar import NOT_TRUE, evaluate
from ostinato.kernels.tree.tree_bounds import (
    earliest_time,
    events_between,
    first_candidate,
    first_from,
    is_bound,
    latest_ordinal,
    next_candidate,
    open_interval,
)
from ostinato.kernels.tree.tree_caches import settle_flag
from ostinato.kernels.tree.tree_kept import ends_before, first_result, flag_of, has_room, load_next, next_result, open_cache, take_result
from ostinato.kernels.tree.tree_layout import (
    AT,
    BACK,
    BASE,
    CACHES_FULL,
    COMPLETED_BY,
    CONTEXT,
    COUNTED,
    COUNTS,
    CURSOR,
    DEEPER,
    EMPTY,
    ENDS_MATCH,
    ENTRY,
    ERROR,
    EXTENDED,
    FAILED,
    FIRST,
    FIRST_END,
    FIRST_OF,
    FLAGGED,
    GIVEN,
    GIVEN_FROM,
    GIVEN_TO,
    INNER,
    IS_LATER,
    KIND,
    LAST,
    LAST_OF,
    LATER,
    LATER_END,
    LINE,
    LINK,
    LOADS,
    LOOKS,
    LOW,
    LOW_ORDINAL,
    MATCHES,
    MEMBER,
    NOTHING,
    OCCUPIED,
    ON,
    OVER_STEPS,
    PASSED,
    PHASE,
    SEES_FROM,
    SHARES,
    STEP_LIMIT,
    STEPS,
    TESTS,
    TESTS_END,
    TO_ARENA,
    UNKNOWN,
    VARIABLE,
    VIOLATED,
    WENT_ON,
)


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
def next_given(variable, place, given_variables, control):
    """The place of the next event of a variable in a given match, -1 if there is none."""
    for i in range(place, control[GIVEN_TO]):
        if given_variables[i] == variable:
            return i
    return -1


@inlined
def passes(
    step, level, row, steps, tests, code, scratch, scratch_valid, ranks, slots, slot_valid, registers, register_valid, stack
):  # fmt: skip
    """Whether the tests of a step hold, as the registers of the next level have it."""
    return tests_hold(
        step, stack[level + 1, LINE], row, steps, tests, code, scratch, scratch_valid, ranks, slots, slot_valid, registers, register_valid
    )


@inlined
def take_event(
    step, level, retry, steps, terms, tests, code, scratch, scratch_valid, ranks, times, slots, slot_valid, links, chains, heads, stack,
    registers, register_valid, bound, contexts, control,
):  # fmt: skip
    """BIND: the next event of a variable, latest first."""
    low_time = stack[level, LOW]
    if retry == 0:
        low_time = stack[level, LOW] = earliest_time(step, steps, terms, times, bound, contexts, control)
        high = latest_ordinal(step, steps, terms, times, bound, contexts, control)
        if steps[step, COUNTED] and control[COUNTS]:
            control[MATCHES] += events_between(step, high, low_time, steps, times, links, control)
            control[STEPS] += 1
            return -OVER_STEPS if control[STEPS] > control[STEP_LIMIT] else BACK
        at = first_candidate(step, high, steps, bound, slots, slot_valid, links, chains, heads, control)
    else:
        at = next_candidate(step, stack[level, CURSOR], steps, links, chains, control)
    least = control[BASE] if steps[step, CONTEXT] else max(control[BASE], control[LOW_ORDINAL])
    while at >= least and times[at + control[TO_ARENA]] >= low_time:
        control[STEPS] += 1
        if not (steps[step, SHARES] and is_bound(at, contexts[steps[step, CONTEXT], SEES_FROM], level, stack, steps, terms, bound)):
            result = bind(
                step, False, level, at, steps, code, scratch, scratch_valid, ranks, slots, slot_valid, registers, register_valid, stack,
                bound, control,
            )  # fmt: skip
            if result > 0:
                result = passes(
                    step, level, at + control[TO_ARENA], steps, tests, code, scratch, scratch_valid, ranks, slots, slot_valid, registers,
                    register_valid, stack,
                )  # fmt: skip
            if result > 0:
                return ON
            if result < 0:
                control[ERROR] = result
                return -FAILED
        at = next_candidate(step, at, steps, links, chains, control)
    return -OVER_STEPS if control[STEPS] > control[STEP_LIMIT] else BACK


@inlined
def take_told(
    step, level, retry, steps, tests, code, scratch, scratch_valid, ranks, slots, slot_valid, stack, registers, register_valid, bound,
    contexts, control, given_ordinals, given_variables,
):  # fmt: skip
    """TRIGGER and GIVEN: the event that completes the match, or those that a match has already."""
    if retry:
        return BACK
    is_given = steps[step, KIND] == GIVEN
    at, place = contexts[steps[step, CONTEXT], COMPLETED_BY], NOTHING
    if is_given:
        place = stack[level - 1, LAST] + 1 if stack[level, IS_LATER] else control[GIVEN_FROM]
        place = next_given(steps[step, VARIABLE], place, given_variables, control)
        at = given_ordinals[place]
    result = bind(
        step, stack[level, IS_LATER] == 1, level, at, steps, code, scratch, scratch_valid, ranks, slots, slot_valid, registers,
        register_valid, stack, bound, control,
    )  # fmt: skip
    if result > 0 and not is_given:
        result = passes(
            step, level, at + control[TO_ARENA], steps, tests, code, scratch, scratch_valid, ranks, slots, slot_valid, registers,
            register_valid, stack,
        )  # fmt: skip
    if result < 0:
        control[ERROR] = result
        return -FAILED
    stack[level, LAST] = place
    if result > 0 and is_given and next_given(steps[step, VARIABLE], place + 1, given_variables, control) >= 0:
        stack[level + 1, AT], stack[level + 1, IS_LATER] = step, 1
        return DEEPER
    return ON if result > 0 else BACK


@inlined
def first_of_repetition(step, level, steps, terms, times, stack, bound, contexts, control):
    """Where the events of a repetition may begin; up to where they may go is noted in the stack."""
    high = latest_ordinal(step, steps, terms, times, bound, contexts, control)
    if steps[step, ENDS_MATCH]:
        high = contexts[0, COMPLETED_BY]
    low_time = earliest_time(step, steps, terms, times, bound, contexts, control)
    if stack[level, IS_LATER]:
        low_time = times[stack[level - 1, CURSOR] + control[TO_ARENA]] + 1
    stack[level, LAST] = high
    to_arena = control[TO_ARENA]
    at = first_from(times, control[BASE] + to_arena, high + 1 + to_arena, low_time) - to_arena
    return at if steps[step, CONTEXT] else max(at, control[LOW_ORDINAL])


@inlined
def take_repeated(
    step, level, retry, steps, terms, tests, code, scratch, scratch_valid, ranks, times, slots, slot_valid, links, stack, registers,
    register_valid, bound, contexts, control,
):  # fmt: skip
    """REPEAT: an event more; first the match goes on with it, then it is followed by further ones."""
    later = stack[level, IS_LATER] == 1
    extends, going_on = retry == 1 and stack[level, PHASE] == WENT_ON, False
    if not extends:
        at = stack[level, CURSOR] + 1
        if retry == 0:
            at = first_of_repetition(step, level, steps, terms, times, stack, bound, contexts, control)
        link, sees = steps[step, LINK], contexts[steps[step, CONTEXT], SEES_FROM]
        while at <= stack[level, LAST] and not extends and not going_on:
            control[STEPS] += 1
            result = np.int64(0)
            if (link < 0 or links[at + control[TO_ARENA], link] == at) and not is_bound(at, sees, level, stack, steps, terms, bound):
                result = bind(
                    step, later, level, at, steps, code, scratch, scratch_valid, ranks, slots, slot_valid, registers, register_valid,
                    stack, bound, control,
                )  # fmt: skip
            if result > 0 and (steps[step, ENDS_MATCH] == 0 or at == contexts[0, COMPLETED_BY]):
                result = passes(
                    step, level, at + control[TO_ARENA], steps, tests, code, scratch, scratch_valid, ranks, slots, slot_valid, registers,
                    register_valid, stack,
                )  # fmt: skip
                going_on = result > 0
                extends = result == 0
            elif result > 0:
                extends = True
            if result < 0:
                control[ERROR] = result
                return -FAILED
            at += 1
        if control[STEPS] > control[STEP_LIMIT]:
            return -OVER_STEPS
    stack[level, PHASE] = WENT_ON if going_on else EXTENDED
    if extends:
        if not later:
            bound[steps[step, VARIABLE], FIRST_OF] = stack[level, CURSOR]
        stack[level + 1, AT], stack[level + 1, IS_LATER] = step, 1
        return DEEPER
    return ON if going_on else BACK


@inlined
def look_for(
    step, level, retry, steps, terms, times, slots, slot_valid, stack, bound, contexts, control, index, entries, results
):  # fmt: skip
    """ABSENT: look for what must not be there; nothing was found if the search comes back."""
    looks = retry == 0 and open_interval(step, level, terms, steps, stack, times, bound, contexts, control)
    known = UNKNOWN
    if looks and steps[step, FLAGGED]:
        if not has_room(control, index, entries, results):
            return -CACHES_FULL
        known = flag_of(step, level, steps, terms, stack, slots, slot_valid, bound, contexts, control, index, entries)
    stack[level, CURSOR] = NOTHING
    if known == OCCUPIED:
        return VIOLATED
    stack[level + 1, LINE] = stack[level, LINE]
    if looks and known == UNKNOWN:
        stack[level, PHASE] = LOOKS
        stack[level + 1, AT], stack[level + 1, IS_LATER] = steps[step, INNER], 0
        return DEEPER
    going_on = retry == 0 or stack[level, PHASE] == LOOKS
    if retry == 1 and going_on and steps[step, FLAGGED]:
        settle_flag(stack[level, ENTRY], EMPTY, entries, index)
    stack[level, PHASE] = PASSED
    return ON if going_on else BACK


@inlined
def take_kept(
    step, level, retry, steps, terms, tests, code, scratch, scratch_valid, ranks, times, slots, slot_valid, links, stack, registers,
    register_valid, bound, contexts, control, index, entries, results, group_plans,
):  # fmt: skip
    """CACHED: the next match of a nested expression, when all of the interval are there."""
    if not has_room(control, index, entries, results):
        return -CACHES_FULL
    if retry == 0 and not open_cache(step, level, steps, terms, stack, times, slots, slot_valid, bound, contexts, control, index, entries):
        return BACK
    if stack[level, PHASE] == LOADS and load_next(step, level, steps, stack, times, links, contexts, control, entries, group_plans):
        return DEEPER
    if stack[level, PHASE] == WENT_ON:
        at = next_result(stack[level, CURSOR], level, stack, entries, results)
    else:
        at = first_result(step, level, steps, stack, bound, slots, slot_valid, control, index, entries)
    while at != NOTHING:
        control[STEPS] += 1
        result = take_result(
            at, step, level, steps, terms, times, code, scratch, scratch_valid, ranks, slots, slot_valid, registers, register_valid, stack,
            bound, contexts, control, results,
        )  # fmt: skip
        if result > 0:
            result = passes(
                step, level, bound[steps[step, MEMBER], LAST_OF] + control[TO_ARENA], steps, tests, code, scratch, scratch_valid, ranks,
                slots, slot_valid, registers, register_valid, stack,
            )  # fmt: skip
        if result > 0:
            stack[level, CURSOR], stack[level, PHASE] = at, WENT_ON
            return ON
        if result < 0:
            control[ERROR] = result
            return -FAILED
        if ends_before(at, stack[level, LOW], step, steps, times, control, results):
            break
        at = next_result(at, level, stack, entries, results)
    return -OVER_STEPS if control[STEPS] > control[STEP_LIMIT] else BACK
