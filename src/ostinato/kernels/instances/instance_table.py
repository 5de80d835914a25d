"""The table of instances: where they wait, how they are found, claimed and let go.

Those that wait in one state, in one partition and, where the state has an equality, for one value, are found in a list; lists begin in the
cells of a hash table. An instance that was used up is taken out when an event of a later epoch comes by, or by `sweep`."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.instances.instance_layout import (
    BOUND_FLOATS,
    BOUND_REGISTER,
    BOUND_RELATION,
    BOUND_SLOT,
    LOWEST_GREATER,
    REGISTER,
    WITHIN,
)
from ostinato.kernels.rows.hashing import slot_of
from ostinato.kernels.scalar.arithmetic import HAS_FAILED, IS_NULL, as_float, as_word, compare_float, compare_int

NOTHING = -1
EMPTY = 0  # the instance before there is one: all registers are null
RESERVED = 1
NEVER = np.iinfo(np.int64).min
LATEST = np.iinfo(np.int64).max

# Columns of `instances`
KEY = 0
STATE = 1  # NOTHING: it is free
START = 2  # of its first event
TIME = 3  # at which its last event was detected
USED = 4  # the epoch in which it met a relevant event, or NEVER
NEXT = 5  # of the list
VALUE = 6  # by which it is found
INSTANCE_COLUMNS = 8  # a line of the cache

# Columns of `per_key`
ALIVE = 0
CLOCK = 1  # the time of the last row
BOUND = 2  # from here on, per state: the value that a row has to exceed, or to stay below, to be relevant to any that waits there

# Cells of `header`
FREE = 0  # first of the list of free instances
BEHIND = 1  # instances from here on were never used
LIVE = 2  # those that wait, and those that are found
FOUND = 3  # results waiting in `found`
ERROR = 4
AT_KEY = 5  # where to go on after the arrays were too small
AT_ROW = 6
AT_STATE = 7
AT_INSTANCE = 8
AT_PREVIOUS = 9
EXPIRED = 10
VISITED = 11  # how often an event was offered to an instance
MADE = 12  # instances ever
PEAK = 13
AT_BEGUN = 14  # the next one that was begun before; NOTHING: the first of the key
HEADER_CELLS = 15


@inlined
def next_free(header):
    """The instance that `claim` will hand out."""
    return header[FREE] if header[FREE] != NOTHING else header[BEHIND]


@inlined
def claim(instances, header, key, state, start, time):
    """The next free instance, with these values; it waits nowhere yet."""
    instance = header[FREE]
    if instance != NOTHING:
        header[FREE] = instances[instance, NEXT]
    else:
        instance = header[BEHIND]
        header[BEHIND] += 1
    header[LIVE] += 1
    header[MADE] += 1
    instances[instance, KEY] = key
    instances[instance, STATE] = state
    instances[instance, START] = start
    instances[instance, TIME] = time
    instances[instance, USED] = NEVER
    instances[instance, VALUE] = 0


@inlined
def release(instances, header, instance):
    instances[instance, STATE] = NOTHING
    instances[instance, NEXT] = header[FREE]
    header[FREE] = instance
    header[LIVE] -= 1


@inlined
def cell_of(cells, key, state, value):
    return slot_of(value ^ (slot_of(key, np.int64(-1)) + state), np.int64(len(cells) - 1))


@inlined
def utmost(states, state, greatest):
    """The greatest value that a bound can have, or the least."""
    if states[state, BOUND_FLOATS] != 0:
        return as_word(np.inf) if greatest else as_word(-np.inf)
    return np.int64(LATEST) if greatest else np.int64(NEVER)


@inlined
def no_bound(states, state):
    """That of a state in which nothing waits: no row satisfies it."""
    return utmost(states, state, states[state, BOUND_RELATION] >= LOWEST_GREATER)


@inlined
def in_relation(states, state, value, other):
    """Whether a row's value and that of an instance, or a bound, are in the relation of the state."""
    if states[state, BOUND_FLOATS] != 0:
        return compare_float(states[state, BOUND_RELATION], value, other)
    return compare_int(states[state, BOUND_RELATION], value, other)


@inlined
def widen(states, registers, register_valid, per_key, key, state, instance):
    """The bound of a state, with one more that waits there. What has no value is never compared; one that could not be computed is an
    error as soon as it is: every row meets it."""
    flag = register_valid[instance, states[state, BOUND_REGISTER]]
    if flag == IS_NULL:
        return
    value = registers[instance, states[state, BOUND_REGISTER]]
    greater = states[state, BOUND_RELATION] >= LOWEST_GREATER
    if flag == HAS_FAILED:
        value = utmost(states, state, not greater)
    held = per_key[key, BOUND + state]
    if states[state, BOUND_FLOATS] != 0:
        one, other = as_float(value), as_float(held)
        if (one < other) if greater else (one > other):
            per_key[key, BOUND + state] = value
    else:
        per_key[key, BOUND + state] = min(held, value) if greater else max(held, value)


@inlined
def wait(states, instances, registers, register_valid, cells, per_key, header, instance):
    """Put the instance where events find it. One without a value equals none: it is let go."""
    state = instances[instance, STATE]
    register = states[state, REGISTER]
    if register >= 0:
        if register_valid[instance, register] == 0:
            release(instances, header, instance)
            return
        instances[instance, VALUE] = registers[instance, register]
    cell = cell_of(cells, instances[instance, KEY], state, instances[instance, VALUE])
    instances[instance, NEXT] = cells[cell]
    cells[cell] = instance
    per_key[instances[instance, KEY], ALIVE] += 1
    if states[state, BOUND_SLOT] != NOTHING:
        widen(states, registers, register_valid, per_key, instances[instance, KEY], state, instance)


@inlined
def is_over(states, instances, instance, time):
    """Whether an event of this time, or a later one, finds nothing there any more."""
    if instances[instance, USED] != NEVER and instances[instance, USED] < time:
        return True
    within = states[instances[instance, STATE], WITHIN]
    return within >= 0 and time - instances[instance, START] > within


@inlined
def expire(states, instances, header, per_key, instance):
    """Of one that is in no list any more."""
    if instances[instance, USED] == NEVER:
        header[EXPIRED] += 1
    per_key[instances[instance, KEY], ALIVE] -= 1
    release(instances, header, instance)


@borrowing("void(int64[:,::1], int64[:,::1], int64)")
def forget_bounds(states, per_key, first):
    """Of keys from `first` on: nothing waits there."""
    for state in range(len(states) - 1):
        bound = no_bound(states, state)
        for key in range(first, len(per_key)):
            per_key[key, BOUND + state] = bound


@borrowing("void(int64[:,::1], int64[:,::1], int64[:,::1], uint8[:,::1], int64[::1], int64[:,::1], int64[::1])")
def rebuild(states, instances, registers, register_valid, cells, per_key, header):
    """Find all instances their places again: the table has another size, keys or strings have other numbers, or the state was loaded."""
    cells[:] = NOTHING
    per_key[:, ALIVE] = 0
    forget_bounds(states, per_key, 0)
    for instance in range(RESERVED, header[BEHIND]):
        if 0 <= instances[instance, STATE] < len(states) - 1:
            wait(states, instances, registers, register_valid, cells, per_key, header, instance)


@borrowing("int64(int64[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64)")
def drop_over(states, instances, per_key, header, watermark):
    """Let go of instances that no later event finds; their lists have to be made anew. Returns how many."""
    dropped = 0
    for instance in range(RESERVED, header[BEHIND]):
        if 0 <= instances[instance, STATE] < len(states) - 1:
            now = max(watermark, per_key[instances[instance, KEY], CLOCK])
            if now != NEVER and is_over(states, instances, instance, now):
                expire(states, instances, header, per_key, instance)
                dropped += 1
    return dropped


@borrowing("void(int64[:,::1], int64[::1], int64[::1])")
def release_all(instances, header, doomed):
    for i in range(len(doomed)):
        release(instances, header, doomed[i])
