"""The scan: leftmost-first matching of row symbols by a table, partition by partition.

`table[state * width + symbol]` says where a row leads: twice the place in the table where the next state begins, plus one if a match
may end there; DEAD if nowhere, UNKNOWN if nobody has asked yet. The table grows while it is used: where a transition is not known
the kernel stops, tells which, and goes on when it is called again. Everything it has to know lies in one line of `cursor` per
partition, so that the next rows continue where the last ended."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.scan.scan_memo import LONG, SPACING, TO_ROW, TO_STATE, find, put
from ostinato.kernels.scan.scan_starts import LEAST, MOST, mark_starts

DEAD = 0  # automaton states
INITIAL = 1
UNKNOWN = -1

ACCEPTS = 1  # flags of automaton states: a match may end here,
CLOSED = 2  # neither a row nor the end of the partition can be read here,
ACCEPTS_AT_END = 4  # if the partition ends here, a match ends here that is preferred to all that end earlier

# Columns of `cursor`: where the attempt starts, the next row to read, the state before it, the last row before which the attempt
# accepted (-1 none), the region of remembered walks (-1 none) and the row at which it ends.
START, AT, AUTOMATON, END, MEMO_REGION, MEMO_END = range(6)
CURSOR_WIDTH = 6

# Elements of `control`: which of the keys is worked on, matches found so far, what is missing, statistics.
KEY, FOUND, MISSING_STATE, MISSING_ROW, STEPS, NEXT_REGION, REMEMBERED, NEEDED = range(8)
CONTROL_WIDTH = 8

# Elements of `setting`; FIRST_INITIAL is the state in which an attempt at the first row of a partition begins.
WIDTH, WITHIN, BY_EVENTS, TO_NEXT_ROW, WATERMARK, FINAL, FIRST_INITIAL = range(7)
SETTING_WIDTH = 7

# How a walk or a scan ends. The first six go to the caller, who provides what is missing and calls again.
DONE, MISS, MISS_BACKWARDS, NEW_SYMBOL, MATCHES_FULL, MEMO_FULL, DECIDED, DECIDED_DEAD = range(8)


@borrowing
def symbol_number(chosen, symbol_bits, symbol_numbers):
    """The number that this set of predicate bits was given, -1 if it is new."""
    last = len(symbol_bits) - 1
    at = np.int64((chosen ^ (chosen >> np.uint64(11)) ^ (chosen >> np.uint64(27))) & np.uint64(last))
    while symbol_numbers[at] >= 0:
        if symbol_bits[at] == chosen:
            return np.int64(symbol_numbers[at])
        at = (at + 1) & last
    return np.int64(-1)


@borrowing
def remember(start, fruitless, end, end_state, region, memo, control, shift, bits, mask, table, setting, symbol_bits, symbol_numbers):
    """Walk from `start` to `end` once more and note where the rows behind `fruitless` lead; entries that were there before are
    brought up to date, which keeps chains of them short."""
    width = setting[WIDTH]
    at, place = start, (setting[FIRST_INITIAL] if start == 0 else INITIAL) * width
    direct = len(symbol_bits) == 0
    while at < end:
        if at % SPACING == 0 and at > fruitless:
            slot = find(memo, region, at, place // width)
            known = memo[slot, 0] == region
            further, further_state = memo[slot, TO_ROW], memo[slot, TO_STATE]
            put(memo, slot, region, at, place // width, end, end_state)
            if known:
                if further_state == DEAD:
                    return
                at, place = further, further_state * width
                continue
            control[REMEMBERED] += 1
        symbol = np.int64(bits[at + shift] & mask) if direct else symbol_number(bits[at + shift] & mask, symbol_bits, symbol_numbers)
        entry = np.int64(table[place + symbol]) if symbol >= 0 else UNKNOWN
        if entry <= DEAD:
            return
        place = entry >> 1
        at += 1
        control[STEPS] += 1


@borrowing
def room_to_remember(rows, memo, control):
    control[NEEDED] = rows // SPACING + 1
    return 2 * (control[REMEMBERED] + control[NEEDED]) <= len(memo)


@borrowing
def remember_attempt(
    start, fruitless, end, end_state, region, memo, control, shift, bits, mask, table, setting, symbol_bits, symbol_numbers
):  # fmt: skip
    """Remember an attempt in its region, or in a new one; returns the region, -1 where the memo has no room."""
    if not room_to_remember(end - fruitless, memo, control):
        return np.int64(-1)
    if region < 0:
        region = control[NEXT_REGION]
        control[NEXT_REGION] += 1
    remember(start, fruitless, end, end_state, region, memo, control, shift, bits, mask, table, setting, symbol_bits, symbol_numbers)
    return region


@inlined
def mark_block(first, stop, shift, bits, mask, width, backwards, marks, control):
    """As `mark_starts`; where it does not get through, `control` says what is missing. Blocks of rows are marked as they are reached,
    each twice as long as the one before, so that a call never marks much more than it passes."""
    count = mark_starts(first, stop, shift, bits, mask, backwards, marks)
    if count < 0:
        control[MISSING_STATE], control[MISSING_ROW] = ~count // width, marks[0] + shift
    else:
        control[STEPS] += stop - first
    return count


@inlined
def leave(k, code, start, at, state, end, region, memo_end, found, steps, shift, cursor, control):
    """Keep what the next call goes on with, and tell what is missing."""
    control[FOUND] = found
    control[STEPS] += steps
    if code == MISS or code == NEW_SYMBOL:
        control[MISSING_STATE], control[MISSING_ROW] = state, at + shift
    cursor[k, START], cursor[k, AT], cursor[k, AUTOMATON] = start, at, state
    cursor[k, END], cursor[k, MEMO_REGION], cursor[k, MEMO_END] = end, region, memo_end
    return code


@borrowing
def decided_at_stop(at, start, limit, behind, state_flags, shift, times, setting):
    """All rows that the window allows were read: is the attempt decided? Where it matters whether the partition ends here, a row that
    comes later changes the match, however late it is."""
    if at == behind and state_flags & ACCEPTS_AT_END:
        return setting[FINAL] != 0
    counted = setting[WITHIN] >= 0 and setting[BY_EVENTS] != 0 and at - start >= setting[WITHIN]
    return counted or window_closed(start, limit, behind, shift, times, setting)


@borrowing
def window_closed(start, limit, behind, shift, times, setting):
    """All rows were read: can no further one belong to an attempt that began at `start`? `behind` is the end of the known rows."""
    if setting[FINAL]:
        return True
    if setting[WITHIN] < 0 or setting[BY_EVENTS]:
        return False
    began = times[start + shift]
    if limit < behind:
        passed = times[limit + shift] - began
        return passed > setting[WITHIN] or passed < 0
    passed = setting[WATERMARK] - began
    return setting[WATERMARK] > began and (passed > setting[WITHIN] or passed < 0)


@inlined
def next_stop(at, hard_stop, memo_end):
    """Where the walk has to look up: at its end, or where earlier walks may be remembered."""
    return hard_stop if at >= memo_end else min(hard_stop, at - at % SPACING + SPACING)


@inlined
def scan_key(
    k, limit, shift, behind, bits, times, setting, cursor, table, flags, mask, symbol_bits, symbol_numbers, backwards, marks, memo, out,
    control,
):  # fmt: skip
    """All attempts of one partition, as far as its rows decide them; at marked rows only, where there are marks. One loop nest without
    calls on its way, and copied into the loop over the keys: handing arrays to a function for every attempt, or for every key, makes it
    several times slower (a million keys of five rows: 0.23 s where this was called, 0.09 s now)."""
    width, within, to_next_row = setting[WIDTH], setting[WITHIN], setting[TO_NEXT_ROW] != 0
    by_events, by_time = within >= 0 and setting[BY_EVENTS] != 0, within >= 0 and setting[BY_EVENTS] == 0
    start, at, place = cursor[k, START], cursor[k, AT], cursor[k, AUTOMATON] * width
    end, region, memo_end = cursor[k, END], cursor[k, MEMO_REGION], cursor[k, MEMO_END]
    direct = len(symbol_bits) == 0
    accepts_empty = flags[INITIAL] & ACCEPTS != 0
    found, steps, began = control[FOUND], np.int64(0), np.int64(0)
    code = DONE
    block, marked_to, left = LEAST if len(backwards) else 0, start, np.int64(0)
    while start < limit:
        if block and at == start and place == INITIAL * width:
            while left and marks[left - 1] < start:
                left -= 1
            if not left and start >= marked_to:
                marked_to = min(limit, start + block)
                left = mark_block(start, marked_to, shift, bits, mask, width, backwards, marks, control)
                if left < 0:
                    code = MISS_BACKWARDS
                    break
                block = min(2 * block, MOST)
            start = at = marks[left - 1] if left else marked_to
            if not left:
                continue
        if start >= memo_end:
            region, memo_end = -1, 0
        if found == out.shape[1]:
            code = MATCHES_FULL
            break
        if by_time:
            began = times[start + shift]
        if accepts_empty and at == start:
            end = start
        hard_stop = min(limit, start + within) if by_events else limit
        stop = next_stop(at - 1, hard_stop, memo_end)
        walked_from = at
        while True:
            entry, symbol, late = np.int64(1), np.int64(0), False
            while at < stop:
                if by_time:
                    passed = times[np.uint64(at + shift)] - began
                    late = passed > within or passed < 0
                    if late:
                        break
                chosen = bits[np.uint64(at + shift)] & mask
                symbol = np.int64(chosen) if direct else symbol_number(chosen, symbol_bits, symbol_numbers)
                entry = np.int64(table[np.uint64(place + symbol)]) if symbol >= 0 else np.int64(UNKNOWN)
                if entry <= DEAD:
                    break
                place = entry >> 1
                at += 1
                if entry & 1:
                    end = at
            if entry <= DEAD:
                code = DECIDED_DEAD if entry == DEAD else (MISS if symbol >= 0 else NEW_SYMBOL)
                break
            if late or flags[place // width] & CLOSED:
                code = DECIDED if late else DECIDED_DEAD
                break
            if at >= hard_stop:
                if decided_at_stop(at, start, limit, behind, flags[place // width], shift, times, setting):
                    code, end = DECIDED, at if at == behind and flags[place // width] & ACCEPTS_AT_END else end
                break
            stop = next_stop(at, hard_stop, memo_end)
            slot = find(memo, region, at, place // width) if at > start else np.int64(-1)
            if slot >= 0 and memo[slot, 0] == region:
                if memo[slot, TO_STATE] == DEAD:
                    code = DECIDED_DEAD
                    break
                steps += at - walked_from
                walked_from = at = memo[slot, TO_ROW]
                place = memo[slot, TO_STATE] * width
                stop = next_stop(at - 1, hard_stop, memo_end)
        steps += at - walked_from
        if code < DECIDED:
            break
        fruitless = max(end, start)
        if at - fruitless > LONG:
            end_state = DEAD if code == DECIDED_DEAD else place // width
            noted_in = remember_attempt(
                start, fruitless, at, end_state, region, memo, control, shift, bits, mask, table, setting, symbol_bits, symbol_numbers
            )
            if noted_in < 0:
                code = MEMO_FULL
                break
            region, memo_end = noted_in, max(memo_end, at)
        at = start + 1
        if end >= 0:
            out[0, found], out[1, found], out[2, found] = k, start, end
            found += 1
            if end > start and not to_next_row:
                at = end
        code, start, place, end = DONE, at, INITIAL * width, -1
    return leave(k, code, start, at, place // width, end, region, memo_end, found, steps, shift, cursor, control)


_SCAN = (
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], {bits}[::1], int64[::1], int64[::1], int64[:, ::1], int32[::1],"
    " uint8[::1], uint64, uint64[::1], int32[::1], int32[::1], int64[::1], int64[:, ::1], int64[:, ::1], int64[::1])"
)


@borrowing(_SCAN.format(bits="uint8"), _SCAN.format(bits="uint64"))
def scan(
    keys, ready, offset, base, length, bits, times, setting, cursor, table, flags, mask, symbol_bits, symbol_numbers, backwards, marks,
    memo, out, control,
):  # fmt: skip
    """Go on with `keys[control[KEY]:]`; matches are put into the columns of `out`: key, first ordinal, ordinal behind the
    last."""
    for n in range(control[KEY], len(keys)):
        k = keys[n]
        code = scan_key(
            k, ready[n], offset[k] - base[k], base[k] + length[k],
            bits, times, setting, cursor, table, flags, mask, symbol_bits, symbol_numbers, backwards, marks, memo, out, control,
        )  # fmt: skip
        if code != DONE:
            control[KEY] = n
            return code
    control[KEY] = len(keys)
    return DONE
