"""Event patterns by backtracking: one run at a time, depth first over its transitions, with the postponed ones on a stack.

A run is followed over the rows of its key until it ends, completes or has read them all; where several transitions are possible, each gets
a place on the `stack` with registers of its own, and the one on top goes on. Runs that have read everything that is there lie in `waiting`,
a list per key in the order of their starts, until more rows come. Matches and the order among them do not depend on the order of the
search.

For non-overlapping output the rows are searched in segments: `BOUND` is where the best match so far completes, and no run is followed
beyond it. When all runs and starts before it have been followed, it is the match; everything else is dropped, and the next segment
begins behind it. Short segments keep a run without a match from reading far ahead of the others."""

from __future__ import annotations

from ostinato.kernels._jit import at_first_call, inlined
from ostinato.kernels.backtrack.backtrack_table import (
    AT_KEY,
    BEST,
    BEST_FIRST,
    BOUND,
    CURSOR,
    DEPTH,
    ERROR,
    EXPIRED,
    FOUND,
    FROM_ORDINAL,
    FROM_TIME,
    FURTHEST,
    HIGH,
    IN_KEY,
    LAST_POSITION,
    LAST_TIME,
    LIMIT,
    LOW,
    MATCHES,
    NEW_HEAD,
    NEW_TAIL,
    NEXT_START,
    NODE,
    NODES,
    NOTHING,
    PINNED,
    READ,
    ROW,
    SEGMENT,
    STATE,
    TOP,
    drop_new,
    has_room,
    next_waiting,
    note_read,
    pop,
    remove,
    suspend,
)
from ostinato.kernels.backtrack.backtrack_transitions import branch
from ostinato.kernels.runs.run_layout import (
    ALWAYS,
    COUNT,
    EPOCH,
    FINAL,
    HAS_WATERMARK,
    LATEST,
    NONOVERLAPPING,
    OUTPUT,
    REPEATS,
    SELECTION,
    SKIP_TO_ANY,
    SKIP_TO_NEXT,
    STATE_MASK,
    STEP_LIMIT,
    STRICT,
    TIMED,
    WATERMARK,
    WITHIN,
    WITHIN_EVENTS,
)
from ostinato.kernels.runs.run_transitions import BEGAN_NEXT, REPLACED, TOOK

# What `search` returns
DONE = 0
TOO_SMALL = 1
FAILED = 2
OVER_STEPS = 3


@inlined
def window_end(settings, times, first_row, low, high, first_ordinal, first_time):
    """The first row beyond the window of a start, `high + 1` where the rows below `high` do not tell. `first_row` is the row of the key
    with ordinal 0."""
    end = high + 1
    if settings[WITHIN] >= 0 and settings[WITHIN_EVENTS]:
        end = min(end, first_row + first_ordinal + settings[WITHIN])
    elif settings[WITHIN] >= 0:
        below = low
        above = high
        while below < above:
            middle = (below + above) // 2
            if times[middle] - first_time > settings[WITHIN]:
                above = middle
            else:
                below = middle + 1
        if below < high:
            end = below
    return end


@inlined
def hopeless(settings, header, slot_position, next_ordinal):
    """Whether no later event can join a run that has read everything: the window is over, by count or by the watermark, or the input is, or
    the stream has gone on elsewhere where every event counts."""
    if settings[FINAL] != 0 or (settings[SELECTION] == STRICT and slot_position < settings[LATEST]):
        return True
    if settings[WITHIN] < 0:
        return False
    if settings[WITHIN_EVENTS]:
        return next_ordinal - header[FROM_ORDINAL] >= settings[WITHIN]
    return settings[HAS_WATERMARK] != 0 and settings[WATERMARK] - header[FROM_TIME] > settings[WITHIN]


@inlined
def stays(states, settings, state, happened):
    """Whether the run that made these transitions is followed further itself."""
    if happened & REPLACED:
        return True
    if state == states.shape[0] - 1:
        return False
    if settings[SELECTION] == SKIP_TO_ANY:
        return True
    return settings[SELECTION] == SKIP_TO_NEXT and not happened & (TOOK if states[state, REPEATS] else BEGAN_NEXT)


@inlined
def next_root(states, settings, bits, times, waiting, stack, registers, register_valid, header, first_row):
    """Put the next run that waited, else the next start, on the empty stack. Returns whether there is one."""
    found = header[CURSOR] != NOTHING
    if found:
        next_waiting(waiting, stack, registers, register_valid, header)
    else:
        start = states.shape[0] - 1
        row = header[NEXT_START]
        last = header[HIGH] if header[BEST] == NOTHING else header[BOUND] - 1  # one that completes with a later start comes second
        if not states[start, ALWAYS]:
            while row < last and bits[row] & states[start, STATE_MASK] == 0:
                row += 1
        header[NEXT_START] = row + 1
        found = row < last
        if found:
            stack[0, ROW] = row
            stack[0, STATE] = start
            stack[0, NODE] = NOTHING
            stack[0, TOP] = NOTHING
            header[DEPTH] = 1
            header[FROM_ORDINAL] = row - first_row
            header[FROM_TIME] = times[row] if settings[TIMED] else 0
            for i in range(registers.shape[1]):
                registers[0, i] = 0
                register_valid[0, i] = register_valid[register_valid.shape[0] - 1, i]
    if found:
        header[LIMIT] = window_end(settings, times, first_row, stack[0, ROW], header[HIGH], header[FROM_ORDINAL], header[FROM_TIME])
    return found


@inlined
def open_segment(settings, header, low, end):
    header[LOW] = low
    header[HIGH] = min(end, low + header[SEGMENT]) if settings[OUTPUT] == NONOVERLAPPING else end
    header[NEXT_START] = low
    header[BEST] = NOTHING
    header[NEW_HEAD] = NOTHING
    header[NEW_TAIL] = NOTHING


@inlined
def close_segment(settings, waiting, found, header, key):
    """Report the best match of the segment; what comes next may begin behind it. Returns where to go on."""
    low = header[HIGH]
    if header[BEST] != NOTHING:
        found[header[FOUND], 0] = header[BEST]
        found[header[FOUND], 1] = key
        header[FOUND] += 1
        header[MATCHES] += 1
        header[PINNED] = header[NODES]
        drop_new(waiting, header)
        low = header[BOUND]
    header[CURSOR] = header[NEW_HEAD]
    return low


@at_first_call
def search(
    transitions, states, passes, settings, code, scratch, scratch_valid, ranks,
    bits, times, positions, slots, slot_valid,
    waiting, stack, registers, register_valid, nodes, found, header,
    head, keys, begin, end, ordinal,
):  # fmt: skip
    """Go on over the rows [begin[i], end[i]) of each of `keys`, the first of which has `ordinal[i]`. Anything but DONE leaves in the
    header where to go on when called again. The registers of stack place s are those numbered s, of waiting run w those from the end of
    the stack on."""
    for i in range(header[AT_KEY], len(keys)):
        first_row = begin[i] - ordinal[i]
        if not header[IN_KEY]:
            header[AT_KEY] = i
            header[IN_KEY] = 1
            header[CURSOR] = head[keys[i]]
            header[FURTHEST] = begin[i]
            open_segment(settings, header, begin[i], end[i])
        while header[IN_KEY]:
            if header[DEPTH] == 0:
                if next_root(states, settings, bits, times, waiting, stack, registers, register_valid, header, first_row):
                    continue
                low = close_segment(settings, waiting, found, header, keys[i])
                if low < end[i]:
                    open_segment(settings, header, low, end[i])
                else:
                    head[keys[i]] = header[CURSOR]
                    header[IN_KEY] = 0
                continue
            if not has_room(settings, waiting, stack, nodes, found, header):
                return TOO_SMALL
            if header[READ] > settings[STEP_LIMIT]:
                return OVER_STEPS
            slot = header[DEPTH] - 1
            row = stack[slot, ROW]
            state = stack[slot, STATE]
            stop = min(header[HIGH], header[LIMIT])
            if header[BEST] != NOTHING:
                stop = min(stop, header[BOUND] - (1 if header[FROM_ORDINAL] > header[BEST_FIRST] else 0))
            started = row
            ended = False
            branched = False
            while row < stop and not ended and not branched:
                offered = states[state, ALWAYS] != 0 or bits[row] & states[state, STATE_MASK] != 0
                if state != states.shape[0] - 1:
                    if settings[SELECTION] == STRICT and positions[row] != stack[slot, LAST_POSITION] + 1:
                        offered = False
                    if settings[EPOCH] and times[row] == stack[slot, LAST_TIME]:
                        offered = False
                if not offered:
                    ended = settings[SELECTION] < SKIP_TO_NEXT
                    row += 1
                    continue
                if settings[OUTPUT] != COUNT and not has_room(settings, waiting, stack, nodes, found, header):
                    note_read(header, started, row)
                    stack[slot, ROW] = row
                    return TOO_SMALL
                happened = branch(
                    transitions, states, passes, settings, code, scratch, scratch_valid, ranks, slots, slot_valid,
                    stack, registers, register_valid, nodes, found, header,
                    keys[i], row, row - first_row, bits[row], times[row] if settings[TIMED] else 0, positions[row], slot, state,
                )  # fmt: skip
                if happened < 0:
                    header[ERROR] = happened
                    return FAILED
                row += 1
                ended = not stays(states, settings, state, happened)
                state = stack[slot, STATE]
                branched = header[DEPTH] - 1 > slot or header[BEST] != NOTHING
            note_read(header, started, row)
            stack[slot, ROW] = row
            if ended:
                remove(stack, registers, register_valid, header, slot)
            elif not branched:
                waits = header[BEST] == NOTHING and header[LIMIT] > header[HIGH]
                if waits and header[HIGH] == end[i] and hopeless(settings, header, stack[slot, LAST_POSITION], row - first_row):
                    waits = False
                    header[EXPIRED] += 1
                if waits:
                    suspend(waiting, stack, registers, register_valid, header, slot, keys[i])
                elif header[LIMIT] <= header[HIGH]:
                    header[EXPIRED] += 1
                pop(stack, header)
    header[AT_KEY] = len(keys)
    return DONE
