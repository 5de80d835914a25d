"""Rows in, matches out: each row is linked to those before it, and completes the matches of which it is the last event."""

from __future__ import annotations

from ostinato.kernels._jit import jit
from ostinato.kernels.tree.tree_bounds import first_from
from ostinato.kernels.tree.tree_layout import (
    AT,
    AT_KEY,
    AT_PLAN,
    BASE,
    BIT,
    BY_EVENTS,
    COMPLETED_BY,
    DONE,
    FINAL,
    FIRST_STEP,
    GIVEN_FROM,
    GIVEN_TO,
    HEADS,
    HEADS_FULL,
    HIGH_ORDINAL,
    IS_LATER,
    IS_RETRY,
    KEY,
    LEVEL,
    LINE,
    LOW_ORDINAL,
    LOW_TIME,
    READ,
    TO_ARENA,
    TRIGGERS,
    WAITS,
    WATERMARK,
    WITHIN,
)
from ostinato.kernels.tree.tree_links import link_row, link_to_trigger
from ostinato.kernels.tree.tree_search import search

NO_LIMIT = -(1 << 62)

_SEARCHED = (
    "int64[:,::1], int64[::1], int64[:,::1], int64[:,::1], int64[::1], uint8[::1], int64[::1], int64[::1], int64[:,::1], uint8[:,::1],"
    " int64[:,::1], int64[:,::1], int64[:,::1], int64[:,::1], int64[:,::1], uint8[:,::1], int64[:,::1], int64[:,::1], int64[::1],"
    " int64[::1], int64[:,::1], int64[:,::1], int64[:,::1], int64[::1], uint8[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], uint8[::1]"
)
_ADVANCE = (
    f"int64({_SEARCHED}, int64[:,::1], int64, int64[::1], int64[:,::1], int64[:,::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])"
)
_CONFIRM = f"int64({_SEARCHED}, int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])"


@jit(_ADVANCE)
def advance(
    steps, terms, tests, code, scratch, scratch_valid, ranks, times, slots, slot_valid, links, chains, heads,
    stack, registers, register_valid, bound, contexts, control, index, entries, results, group_plans, given_ordinals,
    given_variables,
    out_keys, out_plans, out_offsets, out_ordinals, out_variables,
    plans, mask, link_bits, chain_of, before, bits, keys, ready, offset, base, linked, decided,
):  # fmt: skip
    """`linked` and `decided` are, per key, the next row to link and the next that may complete matches. Where simultaneous rows matter to
    each other, they are linked together before any of them completes something (WAITS). A negative `mask`: any row may complete one."""
    while control[AT_KEY] < len(keys):
        at = control[AT_KEY]
        key = keys[at]
        to_arena = offset[key] - base[key]
        while decided[key] < ready[at] or control[LEVEL] >= 0:
            if control[LEVEL] >= 0:
                status = search(
                    steps, terms, tests, code, scratch, scratch_valid, ranks, times, slots, slot_valid, links, chains, heads, stack,
                    registers, register_valid, bound, contexts, control, index, entries, results, group_plans, given_ordinals,
    given_variables, out_keys, out_plans,
                    out_offsets, out_ordinals, out_variables,
                )  # fmt: skip
                if status != DONE:
                    return status
                control[AT_PLAN] += 1
            else:
                if linked[key] == decided[key]:
                    if 2 * (control[HEADS] + len(chain_of)) > len(heads):
                        return HEADS_FULL
                    control[HEADS] = link_to_trigger(
                        ready[at], key, to_arena, mask, bits, slots, slot_valid, link_bits, chain_of, before, links, chains, heads,
                        control[HEADS], linked,
                    )  # fmt: skip
                    last = linked[key] - 1
                    decided[key] = last if mask < 0 or bits[last + to_arena] & mask != 0 else linked[key]
                    if decided[key] > last:
                        continue
                ordinal = decided[key]
                time = times[ordinal + to_arena]
                while linked[key] < ready[at] and (linked[key] <= ordinal or (control[WAITS] and times[linked[key] + to_arena] == time)):
                    if 2 * (control[HEADS] + len(chain_of)) > len(heads):
                        return HEADS_FULL
                    control[HEADS] = link_row(
                        linked[key] + to_arena, linked[key], key, bits, slots, slot_valid, link_bits, chain_of, before, links,
                        chains, heads, control[HEADS],
                    )  # fmt: skip
                    linked[key] += 1
                if control[WAITS] and linked[key] == ready[at] and not control[FINAL] and time >= control[WATERMARK]:
                    break
            ordinal = decided[key]
            word = bits[ordinal + to_arena]
            while control[AT_PLAN] < len(plans) and (mask < 0 or word & mask):
                plan = control[AT_PLAN]
                if plans[plan, BIT] < 0 or (word >> plans[plan, BIT]) & 1:
                    time = times[ordinal + to_arena]
                    control[KEY], control[TO_ARENA], control[BASE], control[READ] = key, to_arena, base[key], linked[key]
                    contexts[0, COMPLETED_BY], control[LEVEL], control[IS_RETRY] = ordinal, 0, 0
                    within = control[WITHIN]
                    control[LOW_ORDINAL] = ordinal - within + 1 if within >= 0 and control[BY_EVENTS] else NO_LIMIT
                    contexts[0, LOW_TIME] = time - within if within >= 0 and not control[BY_EVENTS] else NO_LIMIT
                    contexts[0, HIGH_ORDINAL] = ordinal - 1
                    stack[0, AT], stack[0, LINE], stack[0, IS_LATER] = plans[plan, FIRST_STEP], 0, 0
                    control[TRIGGERS] += 1
                    break
                control[AT_PLAN] += 1
            if control[LEVEL] < 0:
                control[AT_PLAN] = 0
                decided[key] += 1
        control[AT_KEY] += 1
    return DONE


@jit(_CONFIRM)
def confirm(
    steps, terms, tests, code, scratch, scratch_valid, ranks, times, slots, slot_valid, links, chains, heads,
    stack, registers, register_valid, bound, contexts, control, index, entries, results, group_plans, given_ordinals,
    given_variables,
    out_keys, out_plans, out_offsets, out_ordinals, out_variables,
    first_steps, match_keys, match_offsets, offset, base, linked, ends,
):  # fmt: skip
    """Matches that were found earlier are looked at again, each from its own first step: what comes behind them is there by now. `ends`
    are the times of their last events. They come out again, with their numbers as plans, if nothing forbidden did."""
    while control[AT_KEY] < len(match_keys):
        at = control[AT_KEY]
        if control[LEVEL] < 0:
            key = match_keys[at]
            control[KEY], control[TO_ARENA], control[BASE], control[READ] = key, offset[key] - base[key], base[key], linked[key]
            control[GIVEN_FROM], control[GIVEN_TO] = match_offsets[at], match_offsets[at + 1]
            control[LEVEL], control[IS_RETRY], control[LOW_ORDINAL], control[AT_PLAN] = 0, 0, NO_LIMIT, at
            contexts[0, LOW_TIME] = ends[at] - control[WITHIN]
            contexts[0, HIGH_ORDINAL] = linked[key] - 1
            stack[0, AT], stack[0, LINE], stack[0, IS_LATER] = first_steps[at], 0, 0
        status = search(
            steps, terms, tests, code, scratch, scratch_valid, ranks, times, slots, slot_valid, links, chains, heads, stack,
            registers, register_valid, bound, contexts, control, index, entries, results, group_plans, given_ordinals,
    given_variables, out_keys, out_plans,
            out_offsets, out_ordinals, out_variables,
        )  # fmt: skip
        if status != DONE:
            return status
        control[AT_KEY] += 1
    return DONE


@jit(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[:,::1], uint8[:,::1], int64[::1], int64[:,::1],"
    " int64[:,::1], int64[:,::1], int64[:,::1], int64[:,::1], int64[::1])"
)
def link_again(
    keys, until, offset, base, linked, bits, slots, slot_valid, link_bits, chain_of, before, links, chains, heads, control
):  # fmt: skip
    """Rows up to `until` of each key that are not linked, because a session was restored or what is linked has changed."""
    while control[AT_KEY] < len(keys):
        key = keys[control[AT_KEY]]
        to_arena = offset[key] - base[key]
        while linked[key] < until[control[AT_KEY]]:
            if 2 * (control[HEADS] + len(chain_of)) > len(heads):
                return HEADS_FULL
            control[HEADS] = link_row(
                linked[key] + to_arena, linked[key], key, bits, slots, slot_valid, link_bits, chain_of, before, links, chains, heads,
                control[HEADS],
            )  # fmt: skip
            linked[key] += 1
        control[AT_KEY] += 1
    return DONE


@jit("void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64, int64, boolean, int64[::1])")
def needed_from(keys, read, offset, base, length, times, within, watermark, by_events, out):
    """For each of `keys` the first row that a match which is completed later may have."""
    for i in range(len(keys)):
        key = keys[i]
        end = read[key]
        if within < 0:
            out[i] = base[key]
        elif by_events and length[key] > 0 and end > base[key]:
            # what must not be there may be simultaneous with the first event, and come before it
            to_arena = offset[key] - base[key]
            first = min(max(base[key], end - within + 1), end - 1)
            out[i] = first_from(times, offset[key], first + to_arena, times[first + to_arena]) - to_arena
        elif end <= base[key] or length[key] == 0:
            out[i] = end
        else:
            to_arena = offset[key] - base[key]
            last = times[end - 1 + to_arena]
            out[i] = first_from(times, offset[key], end + to_arena, max(last, watermark) - within) - to_arena
