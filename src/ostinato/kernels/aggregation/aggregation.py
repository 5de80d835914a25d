"""Matches of event patterns counted, and values over them summed, without a trace of the single match: for conditions that look at one
event alone. See `aggregation_cells` for what is kept of partial matches, `aggregation_window` for windows."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.aggregation.aggregation_cells import add_bound, add_cell, add_start, bind, clear
from ostinato.kernels.aggregation.aggregation_window import (
    ACTIVE,
    ACTS,
    AT_KEY,
    AT_ROW,
    BACK,
    BACK_OLDEST,
    BOUND_TO,
    CHANGES,
    CLOCK,
    COMPLETES,
    COPY,
    END_OPERATION,
    EPOCH,
    FIRST_OPERATION,
    FREE_BACK,
    FREE_MATRIX,
    GOES_ON,
    KEY,
    MATRIX,
    MOVE,
    NEXT,
    NO_START,
    NOTHING,
    OLDEST,
    POSITION,
    SHIFT,
    SOURCE,
    START,
    STARTS,
    SYMBOL,
    TAKE,
    TARGET,
    USED_BACK,
    USED_FRONT,
    WAITING_STARTS,
    WHAT,
    append,
    leave,
    release,
)
from ostinato.kernels.rows.symbols import UNKNOWN, symbol_of

# Cells of `settings`
MASK = 0
SPAN = 1
BY_TIME = 2
STRICT = 3
WINDOWED = 4
STATES = 5
WATERMARK = 6
HAS_WATERMARK = 7
FINAL = 8
FRONTS = 9  # how many front entries there is room for
FRESH = 10  # the states whose matches end with an event of the time at hand; none where simultaneous events may follow one another
ALONE = 11  # what is added to the bits of an event that is the only one of its time, and known to be: nothing of it has to wait
SETTING_CELLS = 12

EPOCH_SYMBOL = 0  # of time going on, where there are such states

# What `advance` returns
DONE = 0
TOO_SMALL = 1
NEW_SYMBOL = 2


@inlined
def has_room(settings, header):
    """A back entry, a matrix, and front entries for all starts that wait: the lists of free ones must not run out."""
    if not settings[WINDOWED]:
        return True
    if header[FREE_BACK] == NOTHING or header[FREE_MATRIX] == NOTHING:
        return False
    return header[USED_FRONT] + header[WAITING_STARTS] < settings[FRONTS]


@inlined
def step(symbols, operations, accumulators, current, total, base, symbol, values, valid, row, active):
    """Apply an event to the partial matches of a partition; what is completed goes to `total`. Returns the states that have any."""
    width = accumulators.shape[0]
    for o in range(symbols[symbol, FIRST_OPERATION], symbols[symbol, END_OPERATION]):
        what = operations[o, WHAT]
        target = operations[o, TARGET]
        element = operations[o, BOUND_TO]
        if what == START:
            if operations[o, COMPLETES]:
                add_start(accumulators, total, 0, element, values, valid, row)
            if operations[o, GOES_ON]:
                add_start(accumulators, current, base + target * width, element, values, valid, row)
                active |= 1 << target
            continue
        source = operations[o, SOURCE]
        if not active >> source & 1:
            continue
        at = base + source * width
        if operations[o, COMPLETES]:
            add_bound(accumulators, total, 0, current, at, element, values, valid, row)
        if what == MOVE:
            if operations[o, GOES_ON]:
                add_bound(accumulators, current, base + target * width, current, at, element, values, valid, row)
                active |= 1 << target
        elif what == TAKE:
            bind(accumulators, current, at, element, values, valid, row)
        elif what == COPY:
            add_bound(accumulators, current, at, current, at, element, values, valid, row)
        else:
            if what == SHIFT:
                add_cell(accumulators, current, base + target * width, current, at)
                active |= 1 << target
            clear(accumulators, current, at)
            active &= ~(1 << source)
    return active


@borrowing
def note(
    symbols, operations, accumulators, settings, partitions, header, back, back_values, back_valid, matrices, later, key, symbol, values,
    valid, row, now,
):  # fmt: skip
    """Remember an event that changes partial matches, so that starts can be taken out later."""
    states = settings[STATES]
    size = states * accumulators.shape[0]
    if partitions[key, MATRIX] != NOTHING:
        append(symbols, operations, accumulators, later, key * size, 1, size, symbol, values, valid, row, True)
        matrix = partitions[key, MATRIX] * size * states
        append(symbols, operations, accumulators, matrices, matrix, states, size, symbol, values, valid, row, False)
    entry = header[FREE_BACK]
    header[FREE_BACK] = back[entry, NEXT]
    header[USED_BACK] += 1
    back[entry, KEY] = now
    back[entry, SYMBOL] = symbol
    back[entry, NEXT] = partitions[key, BACK]
    for accumulator in range(1, accumulators.shape[0]):
        back_values[entry, accumulator] = values[row, accumulator]
        back_valid[entry, accumulator] = valid[row, accumulator]
    partitions[key, BACK] = entry
    if symbols[symbol, STARTS]:
        header[WAITING_STARTS] += 1
        if partitions[key, BACK_OLDEST] == NO_START:
            partitions[key, BACK_OLDEST] = now
        if partitions[key, OLDEST] == NO_START:
            partitions[key, OLDEST] = now


@borrowing
def nonzero(accumulators, current, base, states):
    """The states that have partial matches."""
    found = 0
    for state in range(states):
        if current[base + state * accumulators.shape[0]] != 0:
            found |= 1 << state
    return found


_SIGNATURE = (
    "int64(int64[:,::1], int64[:,::1], int64[:,::1], int32[::1], int64[::1], int32[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    "int64[:,::1], uint8[:,::1], int64[::1], int64[::1], int64[:,::1], int64[:,::1], uint8[:,::1], int64[::1], int64[::1], int64[::1],"
    "int64[::1], int64[::1], int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1])"
)


@borrowing(_SIGNATURE)
def advance(
    symbols, operations, accumulators, direct, slot_bits, slot_numbers, settings, bits, times, positions,
    values, valid, value_at, total, back, back_values, back_valid, front, matrices, product,
    current, later, partitions, header, keys, begin, ordinal_end,
):  # fmt: skip
    """Go on over the rows of each of `keys` from `begin[2 * i]` to `begin[2 * i + 1]`; `ordinal_end[i]` is the ordinal behind them and
    `value_at[i]` where their accumulator values begin. Anything but DONE leaves in the header where to go on."""
    states = settings[STATES]
    size = states * accumulators.shape[0]
    for i in range(header[AT_KEY], len(keys)):
        key = keys[i]
        end = begin[2 * i + 1]
        row = max(begin[2 * i], header[AT_ROW])
        header[AT_KEY] = i
        header[AT_ROW] = NOTHING
        active = partitions[key, ACTIVE]
        status = DONE
        while row < end:
            is_fresh = active & settings[FRESH] != 0
            goes_on = is_fresh and times[row] != (times[row - 1] if row > begin[2 * i] else partitions[key, EPOCH])
            word = bits[row]
            if settings[ALONE] and (goes_on or not is_fresh) and row + 1 < end and times[row + 1] != times[row]:
                word |= settings[ALONE]
            symbol = symbol_of(word, settings[MASK], direct, slot_bits, slot_numbers)
            if symbol == UNKNOWN:
                status = NEW_SYMBOL
                break
            if settings[STRICT] and active:
                last = positions[row - 1] if row > begin[2 * i] else partitions[key, POSITION]
                if positions[row] != last + 1:
                    for j in range(key * size, key * size + size, accumulators.shape[0]):
                        clear(accumulators, current, j)
                    release(symbols, partitions, header, back, front, matrices, key, size, size * states)
                    active = 0
            if goes_on:
                if not has_room(settings, header):
                    status = TOO_SMALL
                    break
                active = step(symbols, operations, accumulators, current, total, key * size, EPOCH_SYMBOL, values, valid, 0, active)
                if settings[WINDOWED]:
                    note(
                        symbols, operations, accumulators, settings, partitions, header, back, back_values, back_valid, matrices,
                        later, key, EPOCH_SYMBOL, values, valid, value_at[i], 0,
                    )  # fmt: skip
            if active & symbols[symbol, ACTS] == 0 and not symbols[symbol, STARTS]:
                row += 1
                continue
            if not has_room(settings, header):
                status = TOO_SMALL
                break
            now = times[row] if settings[BY_TIME] else row + ordinal_end[i] - end
            if active and now - partitions[key, OLDEST] > settings[SPAN]:
                leave(
                    symbols, operations, accumulators, partitions, header, back, back_values, back_valid, front, matrices, product,
                    current, later, key, states, now, settings[SPAN],
                )  # fmt: skip
                active = nonzero(accumulators, current, key * size, states)
            place = value_at[i] + row - begin[2 * i]
            before = active
            active = step(symbols, operations, accumulators, current, total, key * size, symbol, values, valid, place, active)
            if settings[WINDOWED]:
                if symbols[symbol, STARTS] or (before and symbols[symbol, CHANGES]):
                    note(
                        symbols, operations, accumulators, settings, partitions, header, back, back_values, back_valid, matrices, later,
                        key, symbol, values, valid, place, now,
                    )  # fmt: skip
                if active == 0:
                    release(symbols, partitions, header, back, front, matrices, key, size, size * states)
            row += 1
        if row > begin[2 * i]:
            partitions[key, CLOCK] = times[row - 1] if settings[BY_TIME] else row - 1 + ordinal_end[i] - end
            partitions[key, POSITION] = positions[row - 1]
            partitions[key, EPOCH] = times[row - 1] if settings[FRESH] else 0
        if status == DONE and active and not has_room(settings, header):
            status = TOO_SMALL
        elif status == DONE and active:
            active = collect_garbage(
                symbols, operations, accumulators, settings, partitions, header, back, back_values, back_valid, front, matrices, product,
                current, later, key, ordinal_end[i], active,
            )  # fmt: skip
        partitions[key, ACTIVE] = active
        if status != DONE:
            header[AT_ROW] = row
            return status
    header[AT_KEY] = len(keys)
    return DONE


@borrowing
def collect_garbage(
    symbols, operations, accumulators, settings, partitions, header, back, back_values, back_valid, front, matrices, product, current,
    later, key, next_ordinal, active,
):  # fmt: skip
    """Take out what no later event can join."""
    states = settings[STATES]
    size = states * accumulators.shape[0]
    if not settings[FINAL]:
        now = settings[WATERMARK] if settings[BY_TIME] else next_ordinal
        known = settings[WINDOWED] and (settings[HAS_WATERMARK] or not settings[BY_TIME])
        if not known or now - partitions[key, OLDEST] <= settings[SPAN]:
            return active
        leave(
            symbols, operations, accumulators, partitions, header, back, back_values, back_valid, front, matrices, product,
            current, later, key, states, now, settings[SPAN],
        )  # fmt: skip
        active = nonzero(accumulators, current, key * size, states)
    if settings[FINAL] or active == 0:
        for j in range(key * size, key * size + size, accumulators.shape[0]):
            clear(accumulators, current, j)
        release(symbols, partitions, header, back, front, matrices, key, size, size * states)
        return 0
    return active
