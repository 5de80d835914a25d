"""Where runs wait, so that an event finds those it can affect.

A run waits in the list of its key and state. If a state has a join register (its transitions test it for equality with a value of the
event), its runs wait in cells of a hash table by that value instead. The index only filters: whatever is found is tested in full.
Where a transition compares the value with something else of the run, a threshold or both ends of a band, they wait in order (`run_order`).
A run whose join register holds no value waits in the list of the state, where every event that offers a transition meets it."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.runs.run_layout import (
    ALWAYS,
    END_TRANSITION,
    FIRST_TRANSITION,
    JOIN_REGISTER,
    JOIN_SLOT,
    MASK,
    ORDER_FROM,
    ORDER_TO,
    ORDER_TRANSITION,
    STATE_MASK,
    VALUE_AT,
    VALUE_END,
    VALUE_KIND,
    VALUE_START,
)
from ostinato.kernels.runs.run_order import insert, stabbed
from ostinato.kernels.runs.run_table import (
    BY_STATE,
    ELEMENT,
    FIRST_RUN,
    IN_ORDER,
    KEY,
    LATER,
    MET,
    NEXT,
    NOTHING,
    PLACE,
    PREVIOUS,
    STAMP,
    WAITING,
    root_of,
)
from ostinato.kernels.scalar.arithmetic import HAS_FAILED, IS_VALUE
from ostinato.kernels.search.search_bounds import interval, is_nan, is_wide, row_value, sort_key

_FACTOR = np.int64(-7046029254386353131)
_NEGATIVE_ZERO = np.iinfo(np.int64).min  # as a float's bits; zero equals it


@inlined
def mixed(seed, value):
    mixture = (seed ^ value) * _FACTOR
    return mixture ^ (mixture >> 32)


@inlined
def join_cell(cells, key, state, value):
    return mixed(mixed(key, state), 0 if value == _NEGATIVE_ZERO else value) & (len(cells) - 1)


@inlined(
    "void(int64[:,::1], int64[:,::1], int64[:,::1], int64[::1], uint8[::1], int64[::1], int64[:,::1], uint8[:,::1], int64[:,::1],"
    "int64[:,::1], uint8[:,::1], int64[:,::1], int64[::1], int64[:,::1], int64)"
)
def take_place(
    states, bounds, code, scratch, scratch_valid, ranks, slots, slot_valid, runs, registers, register_valid, per_key, cells, order, run
):  # fmt: skip
    key = runs[run, KEY]
    state = runs[run, ELEMENT]
    if states[state, ORDER_TRANSITION] != NOTHING:
        lo, hi, known = interval(
            states[state, ORDER_FROM], states[state, ORDER_TO], bounds, code, scratch, scratch_valid, ranks, slots, slot_valid,
            np.int64(0), registers, register_valid, run,
        )  # fmt: skip
        if known:
            insert(order, per_key, key, root_of(per_key, state), run, lo, hi)
            runs[run, PLACE] = IN_ORDER
            return
    join = states[state, JOIN_REGISTER]
    runs[run, PREVIOUS] = NOTHING
    if join != NOTHING and register_valid[run, join] == IS_VALUE:
        cell = join_cell(cells, key, state, registers[run, join])
        after = cells[cell]
        cells[cell] = run
        runs[run, PLACE] = cell
    else:
        after = per_key[key, WAITING + state]
        per_key[key, WAITING + state] = run
        runs[run, PLACE] = BY_STATE
    runs[run, NEXT] = after
    if after != NOTHING:
        runs[after, PREVIOUS] = run


@inlined
def gather_all(runs, per_key, key, live):
    """All runs of the key, for selections under which an event ends the runs that cannot select it."""
    count = 0
    run = per_key[key, FIRST_RUN]
    while run != NOTHING:
        live[count] = run
        count += 1
        run = runs[run, LATER]
    return count


@inlined
def gather(
    transitions, states, code, scratch, scratch_valid, ranks, runs, registers, register_valid, header, per_key, cells, order, slots,
    slot_valid, key, row, bits, live,
):  # fmt: skip
    """The runs of the key to which the row may offer a transition; returns how many."""
    count = 0
    for state in range(states.shape[0] - 1):
        if states[state, ALWAYS] != 0 or bits & states[state, STATE_MASK] != 0:
            run = per_key[key, WAITING + state]
            while run != NOTHING:
                live[count] = run
                count += 1
                run = runs[run, NEXT]
            if states[state, JOIN_REGISTER] != NOTHING:
                count = gather_joined(
                    transitions, states, runs, header, per_key, cells, slots, slot_valid, key, row, bits, state, live, count
                )
            if states[state, ORDER_TRANSITION] != NOTHING:
                count = gather_ordered(
                    transitions, states, code, scratch, scratch_valid, ranks, runs, registers, register_valid, per_key, order, slots,
                    slot_valid, key, row, bits, state, live, count,
                )  # fmt: skip
    return count


@borrowing
def gather_ordered(
    transitions, states, code, scratch, scratch_valid, ranks, runs, registers, register_valid, per_key, order, slots, slot_valid, key,
    row, bits, state, live, count,
):  # fmt: skip
    """Those that wait in order: the ones whose interval holds the value of the row; all, if it offers another transition or has a value
    that could not be computed."""
    chosen = states[state, ORDER_TRANSITION]
    offered = (bits & transitions[chosen, MASK]) == transitions[chosen, MASK]
    every = False
    for m in range(states[state, FIRST_TRANSITION], states[state, END_TRANSITION]):
        every = every or (m != chosen and (bits & transitions[m, MASK]) == transitions[m, MASK])
    if offered and not every:
        kind = states[state, VALUE_KIND]
        word, flag = row_value(
            states[state, VALUE_START], states[state, VALUE_END], states[state, VALUE_AT], code, scratch, scratch_valid, ranks, slots,
            slot_valid, row, registers, register_valid,
        )  # fmt: skip
        every = flag == HAS_FAILED or (flag == IS_VALUE and is_wide(word, kind))
        if flag == IS_VALUE and not every and not is_nan(word, kind):
            return stabbed(order, per_key[key, root_of(per_key, state)], sort_key(word, kind), live, count)
    if every:
        run = per_key[key, FIRST_RUN]
        while run != NOTHING:
            if runs[run, ELEMENT] == state and runs[run, PLACE] == IN_ORDER:
                live[count] = run
                count += 1
            run = runs[run, LATER]
    return count


@borrowing
def gather_joined(transitions, states, runs, header, per_key, cells, slots, slot_valid, key, row, bits, state, live, count):
    """Those that wait by join value: for each value that the row offers for some transition, or all if a transition that it offers needs
    none. Two transitions may lead to the same run, which is marked when it is met."""
    header[STAMP] += 1
    for m in range(states[state, FIRST_TRANSITION], states[state, END_TRANSITION]):
        slot = transitions[m, JOIN_SLOT]
        if (bits & transitions[m, MASK]) == transitions[m, MASK]:
            by_value = slot != NOTHING and slot_valid[row, slot] != HAS_FAILED
            if by_value and slot_valid[row, slot] != IS_VALUE:
                continue  # null equals nothing
            run = cells[join_cell(cells, key, state, slots[row, slot])] if by_value else per_key[key, FIRST_RUN]
            while run != NOTHING:
                if runs[run, MET] != header[STAMP] and runs[run, KEY] == key and runs[run, ELEMENT] == state and runs[run, PLACE] >= 0:
                    runs[run, MET] = header[STAMP]
                    live[count] = run
                    count += 1
                run = runs[run, NEXT if by_value else LATER]
    return count
