"""The search over a nested pattern: a machine that takes the steps of a plan and turns back where one finds nothing more.

A level of the stack is a step that was taken. Going on is `is_retry` = 0 with a new level on top, turning back is `is_retry` = 1 with the
level before. All of it lies in arrays, so that a call may end anywhere (no room for matches) and the next one goes on."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing
from ostinato.kernels.tree.tree_caches import settle_flag
from ostinato.kernels.tree.tree_kept import has_room, store
from ostinato.kernels.tree.tree_layout import (
    ABSENT,
    AT,
    AT_PLAN,
    BACK,
    BIND,
    CACHED,
    CACHES_FULL,
    CONTEXT,
    COUNTS,
    CURSOR,
    CUTS,
    DEEPER,
    DONE,
    ENTRY,
    EVENTS,
    FLAGGED,
    FOUND,
    IS_LATER,
    IS_RETRY,
    KEY,
    KIND,
    LAST_OF,
    LEVEL,
    MATCH,
    MATCHES,
    MEMBERS,
    MEMBERS_END,
    NEW,
    NEXT,
    OCCUPIED,
    ON,
    OPENED_AT,
    OUTPUT_FULL,
    PHASE,
    REPEAT,
    STACK_FULL,
    STORE,
    VARIABLE,
    VIOLATED,
)
from ostinato.kernels.tree.tree_steps import look_for, take_event, take_kept, take_repeated, take_told


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
    while level >= 0 and status == DONE:
        step = stack[level, AT]
        kind = steps[step, KIND]
        outcome = BACK
        if level + 2 > len(stack):
            outcome = -STACK_FULL
        elif kind == BIND:
            outcome = take_event(
                step, level, retry, steps, terms, tests, code, scratch, scratch_valid, ranks, times, slots, slot_valid, links, chains,
                heads, stack, registers, register_valid, bound, contexts, control,
            )  # fmt: skip
        elif kind == MATCH:
            if control[COUNTS]:
                control[MATCHES] += 1
            elif not write_match(level, steps, terms, stack, bound, control, out_keys, out_plans, out_offsets, out_ordinals, out_variables):
                outcome = -OUTPUT_FULL
        elif kind == ABSENT:
            outcome = look_for(
                step, level, retry, steps, terms, times, slots, slot_valid, stack, bound, contexts, control, index, entries, results
            )
        elif kind == FOUND:
            level = contexts[steps[step, CONTEXT], OPENED_AT]
            if steps[stack[level, AT], FLAGGED]:
                settle_flag(stack[level, ENTRY], OCCUPIED, entries, index)
            outcome = VIOLATED
        elif kind == STORE:
            if has_room(control, index, entries, results):
                store(step, steps, terms, stack, bound, slots, slot_valid, contexts, control, index, entries, results)
            else:
                outcome = -CACHES_FULL
        elif kind == CACHED:
            outcome = take_kept(
                step, level, retry, steps, terms, tests, code, scratch, scratch_valid, ranks, times, slots, slot_valid, links, stack,
                registers, register_valid, bound, contexts, control, index, entries, results, group_plans,
            )  # fmt: skip
        elif kind == REPEAT:
            outcome = take_repeated(
                step, level, retry, steps, terms, tests, code, scratch, scratch_valid, ranks, times, slots, slot_valid, links, stack,
                registers, register_valid, bound, contexts, control,
            )  # fmt: skip
        else:
            outcome = take_told(
                step, level, retry, steps, tests, code, scratch, scratch_valid, ranks, slots, slot_valid, stack, registers,
                register_valid, bound, contexts, control, given_ordinals, given_variables,
            )  # fmt: skip
        if outcome == ON:
            stack[level + 1, AT], stack[level + 1, IS_LATER], stack[level + 1, PHASE] = steps[step, NEXT], 0, NEW
        if outcome < 0:
            status = -outcome
        elif outcome == ON or outcome == DEEPER:
            level, retry = level + 1, np.int64(0)
        else:
            level, retry = (cut_back(level, stack, steps) if outcome == VIOLATED else level) - 1, np.int64(1)
    control[LEVEL], control[IS_RETRY] = level, retry
    return status
