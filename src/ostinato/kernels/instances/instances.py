"""Events meet the instances that wait for them."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.instances.instance_layout import (
    ANY_MASK,
    BOUND_REGISTER,
    BOUND_SLOT,
    FORWARD,
    FORWARD_END,
    GOES_ON,
    LIMIT,
    MASK,
    REBIND,
    REBIND_END,
    RELEVANT,
    RELEVANT_END,
    REPEATS,
    SLOT,
    START_SLOT,
    STEP_LIMIT,
)
from ostinato.kernels.instances.instance_table import (
    ALIVE,
    AT_BEGUN,
    AT_INSTANCE,
    AT_KEY,
    AT_PREVIOUS,
    AT_ROW,
    AT_STATE,
    BOUND,
    CLOCK,
    EMPTY,
    ERROR,
    FOUND,
    KEY,
    LATEST,
    LIVE,
    NEXT,
    NOTHING,
    PEAK,
    RESERVED,
    START,
    STATE,
    TIME,
    USED,
    VALUE,
    VISITED,
    cell_of,
    claim,
    expire,
    in_relation,
    is_over,
    next_free,
    no_bound,
    wait,
    widen,
)
from ostinato.kernels.rows.farest_time import FAREST
from ostinato.kernels.scalar.arithmetic import HAS_FAILED, IS_VALUE
from ostinato.kernels.scalar.scalar import TRUE, evaluate

# What `advance` returns
DONE = 0
TOO_SMALL = 1  # for what one event can make of an instance
FULL = 2  # of results
OVER_LIMIT = 3
OVER_STEPS = 4
FAILED = 5

EASY = 8  # instances that a row finds room for, or the table grows before
BAD_START = -100  # beside the error codes of scalar code


@inlined
def carried(code, scratch, scratch_valid, ranks, slots, slot_valid, registers, register_valid, begin, end, row, old, new):
    """Give the registers of one instance to another, changed by the block, if that holds."""
    if begin == NOTHING:
        for register in range(registers.shape[1]):
            registers[new, register] = registers[old, register]
            register_valid[new, register] = register_valid[old, register]
        return np.int64(TRUE)
    return evaluate(code, begin, end, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, old, new)


@borrowing
def go_forward(
    states, code, scratch, scratch_valid, ranks, slots, slot_valid, instances, registers, register_valid, cells, header, per_key, found,
    row, key, state, start, time, source,
):  # fmt: skip
    """Along the forward edge of a state, or of the beginning, which is the last line: to an instance behind it, or to a result."""
    new = next_free(header)
    status = carried(
        code, scratch, scratch_valid, ranks, slots, slot_valid, registers, register_valid, states[state, FORWARD],
        states[state, FORWARD_END], row, source, new,
    )  # fmt: skip
    if status != TRUE:
        return status
    behind = 0 if state == len(states) - 1 else state + 1
    claim(instances, header, key, behind, start, time)
    if behind == len(states) - 1:
        found[header[FOUND]] = new
        header[FOUND] += 1
    else:
        wait(states, instances, registers, register_valid, cells, per_key, header, new)
    return status


@borrowing
def offer(
    states, code, scratch, scratch_valid, ranks, slots, slot_valid, instances, registers, register_valid, cells, header, per_key, found,
    row, key, state, time, instance,
):  # fmt: skip
    """What a row does that an instance may meet. Below 0: an error."""
    header[VISITED] += 1
    if states[state, RELEVANT] != NOTHING:
        status = evaluate(
            code, states[state, RELEVANT], states[state, RELEVANT_END], scratch, scratch_valid, ranks, slots, slot_valid, row, registers,
            register_valid, instance, instance,
        )  # fmt: skip
        if status != TRUE:
            return status
    instances[instance, USED] = time
    start = instances[instance, START]
    if states[state, REPEATS] == 0:
        return go_forward(
            states, code, scratch, scratch_valid, ranks, slots, slot_valid, instances, registers, register_valid, cells, header, per_key,
            found, row, key, state, start, time, instance,
        )  # fmt: skip
    again = next_free(header)
    status = carried(
        code, scratch, scratch_valid, ranks, slots, slot_valid, registers, register_valid, states[state, REBIND], states[state, REBIND_END],
        row, instance, again,
    )  # fmt: skip
    if status != TRUE:
        return status
    claim(instances, header, key, state, start, time)
    status = go_forward(
        states, code, scratch, scratch_valid, ranks, slots, slot_valid, instances, registers, register_valid, cells, header, per_key,
        found, row, key, state, start, time, again,
    )  # fmt: skip
    wait(states, instances, registers, register_valid, cells, per_key, header, again)
    return status


@inlined
def room_for(header, instances, found):
    """Whether the arrays hold what an event can make of one instance."""
    if header[FOUND] >= len(found):
        return FULL
    return TOO_SMALL if header[LIVE] + 2 > len(instances) - RESERVED else DONE


@inlined
def can_meet(states, slots, slot_valid, per_key, row, own, key, state):
    """Whether a row may be relevant to anything that waits in a state."""
    if states[state, MASK] != 0 and own & states[state, MASK] == 0:
        return False
    if states[state, SLOT] != NOTHING and slot_valid[row, states[state, SLOT]] == 0:
        return False
    slot = states[state, BOUND_SLOT]
    return slot == NOTHING or (slot_valid[row, slot] != 0 and in_relation(states, state, slots[row, slot], per_key[key, BOUND + state]))


@inlined
def may_hold(states, registers, register_valid, state, instance, compared):
    """Whether the comparison of the state holds, or cannot be computed, which the block tells."""
    register = states[state, BOUND_REGISTER]
    flag = register_valid[instance, register]
    if flag != IS_VALUE:
        return flag == HAS_FAILED
    return in_relation(states, state, compared, registers[instance, register])


@borrowing
def meet(
    states, code, scratch, scratch_valid, ranks, slots, slot_valid, instances, registers, register_valid, cells, header, per_key, found,
    row, key, state, start, time,
):  # fmt: skip
    """Offer the row to all instances that wait for such a one in a state. What was used up before, or is too old, is let go."""
    value = slots[row, states[state, SLOT]] if states[state, SLOT] != NOTHING else np.int64(0)
    bound_slot = states[state, BOUND_SLOT]
    compared = slots[row, bound_slot] if bound_slot != NOTHING else np.int64(0)
    cell = cell_of(cells, key, state, value)
    instance, previous = cells[cell], np.int64(NOTHING)
    if header[AT_INSTANCE] != NOTHING:
        instance, previous = header[AT_INSTANCE], header[AT_PREVIOUS]
        header[AT_INSTANCE] = NOTHING
    elif bound_slot != NOTHING:
        per_key[key, BOUND + state] = no_bound(states, state)  # of those that stay, and of those that are made
    while instance != NOTHING:
        following = instances[instance, NEXT]
        if instances[instance, KEY] == key and instances[instance, STATE] == state and instances[instance, VALUE] == value:
            if is_over(states, instances, instance, time):
                if previous == NOTHING:
                    cells[cell] = following
                else:
                    instances[previous, NEXT] = following
                expire(states, instances, header, per_key, instance)
                instance = following
                continue
            if bound_slot != NOTHING:
                widen(states, registers, register_valid, per_key, key, state, instance)
            if instances[instance, TIME] < start and (
                bound_slot == NOTHING or may_hold(states, registers, register_valid, state, instance, compared)
            ):
                status = room_for(header, instances, found)
                if status != DONE:
                    header[AT_INSTANCE], header[AT_PREVIOUS] = instance, previous
                    return status
                happened = offer(
                    states, code, scratch, scratch_valid, ranks, slots, slot_valid, instances, registers, register_valid, cells, header,
                    per_key, found, row, key, state, time, instance,
                )  # fmt: skip
                if happened < 0:
                    header[ERROR] = happened
                    return FAILED
        previous = instance
        instance = following
    return DONE


_SIGNATURE = (
    "int64(int64[:,::1], int64[::1], int64[:,::1], int64[::1], uint8[::1], int64[::1], int64[::1], int64[::1], int64[:,::1], uint8[:,::1],"
    "int64[:,::1], int64[:,::1], uint8[:,::1], int64[::1], int64[::1], int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    "int64[::1], int64[::1], int64[::1], int64[::1], int64[:,::1], uint8[:,::1])"
)


@borrowing
def go_on_with_begun(
    states, settings, code, scratch, scratch_valid, ranks, instances, registers, register_valid, cells, header, per_key, found, key, behind,
    begun_start, begun_end, begun_values, begun_valid, time,
):  # fmt: skip
    """Take over what was begun before and detected before a time: it is to this automaton what events are to others."""
    last = len(states) - 1
    while header[AT_BEGUN] < behind and begun_end[header[AT_BEGUN]] < time:
        begun = header[AT_BEGUN]
        if header[LIVE] - header[FOUND] > settings[LIMIT]:
            return OVER_LIMIT
        status = room_for(header, instances, found)
        if status != DONE:
            return status
        happened = go_forward(
            states, code, scratch, scratch_valid, ranks, begun_values, begun_valid, instances, registers, register_valid, cells, header,
            per_key, found, begun, key, last, begun_start[begun], begun_end[begun], EMPTY,
        )  # fmt: skip
        if happened < 0:
            header[ERROR] = happened
            return FAILED
        header[AT_BEGUN] = begun + 1
        header[PEAK] = max(header[PEAK], header[LIVE] - header[FOUND])
    return DONE


@borrowing(_SIGNATURE)
def advance(
    states, settings, code, scratch, scratch_valid, ranks, bits, times, slots, slot_valid, instances, registers, register_valid, cells,
    header, per_key, found, keys, begin, end, begun_first, begun_behind, begun_start, begun_end, begun_values, begun_valid,
):  # fmt: skip
    """Go on over the rows [begin[i], end[i]) of each of `keys`, and with what was begun before, [begun_first[i], begun_behind[i]), in the
    order of its detection. Anything but DONE leaves in the header where to go on when called again;
    AT_INSTANCE is NOTHING there unless it is on its way through a list. The states come from the last to the first, and then the beginning:
    what a row makes waits where it is not offered to it again."""
    last = len(states) - 1
    for i in range(header[AT_KEY], len(keys)):
        key = keys[i]
        row = max(begin[i], header[AT_ROW])
        header[AT_KEY] = i
        if header[AT_BEGUN] == NOTHING:
            header[AT_BEGUN] = begun_first[i]
        while row < end[i]:
            if header[AT_BEGUN] < begun_behind[i] and begun_end[header[AT_BEGUN]] < times[row]:
                status = go_on_with_begun(
                    states, settings, code, scratch, scratch_valid, ranks, instances, registers, register_valid, cells, header, per_key,
                    found, key, begun_behind[i], begun_start, begun_end, begun_values, begun_valid, times[row],
                )  # fmt: skip
                if status != DONE:
                    header[AT_ROW] = row
                    return status
            own = bits[row]
            begins = settings[GOES_ON] == 0 and (states[last, MASK] == 0 or own & states[last, MASK] != 0)
            waited_for = per_key[key, ALIVE] != 0 and (settings[ANY_MASK] == 0 or own & settings[ANY_MASK] != 0)
            if not begins and not waited_for:
                row += 1
                continue
            header[AT_ROW] = row
            time = times[row]
            start = time
            if settings[START_SLOT] != NOTHING:
                start = slots[row, settings[START_SLOT]]
                if slot_valid[row, settings[START_SLOT]] == 0 or not -FAREST <= start <= time:
                    header[ERROR] = BAD_START
                    return FAILED
            if header[AT_STATE] == NOTHING:
                if header[LIVE] - header[FOUND] > settings[LIMIT]:
                    return OVER_LIMIT
                if header[VISITED] > settings[STEP_LIMIT]:
                    return OVER_STEPS
                if header[LIVE] + EASY > len(instances) - RESERVED:  # lists can be made anew now, and not on the way through one
                    return TOO_SMALL
                header[AT_STATE] = last
            while header[AT_STATE] > 0:
                state = header[AT_STATE] - 1
                # on its way through a list, whose bound it makes anew, it is not asked again
                if header[AT_INSTANCE] != NOTHING or (waited_for and can_meet(states, slots, slot_valid, per_key, row, own, key, state)):
                    status = meet(
                        states, code, scratch, scratch_valid, ranks, slots, slot_valid, instances, registers, register_valid, cells,
                        header, per_key, found, row, key, state, start, time,
                    )  # fmt: skip
                    if status != DONE:
                        return status
                header[AT_STATE] = state
            if begins:
                status = room_for(header, instances, found)
                if status != DONE:
                    return status
                happened = go_forward(
                    states, code, scratch, scratch_valid, ranks, slots, slot_valid, instances, registers, register_valid, cells, header,
                    per_key, found, row, key, last, start, time, EMPTY,
                )  # fmt: skip
                if happened < 0:
                    header[ERROR] = happened
                    return FAILED
            header[AT_STATE] = NOTHING
            header[PEAK] = max(header[PEAK], header[LIVE] - header[FOUND])
            row += 1
        if header[AT_BEGUN] < begun_behind[i]:
            header[AT_ROW] = row
            status = go_on_with_begun(
                states, settings, code, scratch, scratch_valid, ranks, instances, registers, register_valid, cells, header, per_key, found,
                key, begun_behind[i], begun_start, begun_end, begun_values, begun_valid, LATEST,
            )  # fmt: skip
            if status != DONE:
                return status
        header[AT_BEGUN] = NOTHING
        header[AT_ROW] = NOTHING
        if end[i] > begin[i]:
            per_key[key, CLOCK] = times[end[i] - 1]
    header[AT_KEY] = len(keys)
    return DONE
