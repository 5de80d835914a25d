"""Matches counted start by start: for every start how many partial matches there are in each state. For negations that are decided by the
start; see `program.analysis.start_negations`. What an event does is in the tables of `kernels.compact.compact`."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.aggregation.aggregation_cells import add_counts
from ostinato.kernels.compact.compact import COMPLETES, END_TRANSITION, FIRST_TRANSITION, GOES_ON, PASSES, SOURCE, TARGET
from ostinato.kernels.compact.start_heaps import NOTHING
from ostinato.kernels.rows.symbols import UNKNOWN, symbol_of

# Columns of `lines`
KEY = 0
FIRST = 1  # the ordinal of the start ...
TIME = 2  # ... and its time, or the ordinal where events are counted
ACTIVE = 3  # the states with partial matches, as a bit set
BARRED = 4  # the latest negated event before the start, as TIME: no match may have it within its window
COMPLETE = 5  # matches that wait for what comes behind them
CELLS = 6  # from here on, per state how many partial matches there are

# Cells of `settings`
MASK = 0  # of the bits that make up a symbol
OWN = 1  # of those that a start has of its own, in `extra`
BY_TIME = 2
WITHIN = 3
LEADING = 4  # whether something is negated before the match
TRAILING = 5  # bits that are negated behind it, 0 none
ALL_TRAILING = 6  # every row is
SETTING_CELLS = 7

# Cells of `header`
AT_LINE = 0
AT_ROW = 1
UNKNOWN_BITS = 2  # of the row for which it stopped
HEADER_CELLS = 3

DONE = 0
NEW_SYMBOL = 1

NEVER = np.iinfo(np.int64).min


@inlined
def step(symbols, transitions, lines, line, symbol, is_start):
    """One event. Returns how many matches it completes."""
    before = lines[line, ACTIVE]
    active = before & symbols[symbol, PASSES]
    complete = np.int64(0)
    for m in range(symbols[symbol, FIRST_TRANSITION], symbols[symbol, END_TRANSITION]):
        source = transitions[m, SOURCE]
        if source == NOTHING and not is_start:
            continue
        if source != NOTHING and not before >> source & 1:
            continue
        count = np.int64(1) if source == NOTHING else lines[line, CELLS + source]
        if transitions[m, COMPLETES]:
            complete = add_counts(complete, count)
        if transitions[m, GOES_ON]:
            cell = CELLS + transitions[m, TARGET]
            lines[line, cell] = add_counts(lines[line, cell], count) if active >> transitions[m, TARGET] & 1 else count
            active |= 1 << transitions[m, TARGET]
    lines[line, ACTIVE] = active
    return complete


@inlined
def is_barred(settings, lines, line, now):
    """Whether the window of a match that ends now holds something negated before its start."""
    if not settings[LEADING] or lines[line, BARRED] == NEVER:
        return False
    back_to = now - settings[WITHIN]
    return lines[line, BARRED] >= back_to if settings[BY_TIME] else lines[line, BARRED] > back_to


@borrowing(
    "int64(int64[:,::1], int64[:,::1], int32[::1], int64[::1], int32[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    "int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])"
)
def follow(
    symbols, transitions, direct, slot_bits, slot_numbers, settings, bits, times, extra,
    lines, chosen, begin, end, ordinal, extra_at, header,
):  # fmt: skip
    """Go on over the rows [begin[i], end[i]) with line `chosen[i]`; the first of them has `ordinal[i]`, and own bits from `extra_at[i]` on.
    Anything but DONE leaves in the header where to go on when called again."""
    for i in range(header[AT_LINE], len(chosen)):
        line = chosen[i]
        row = max(begin[i], header[AT_ROW])
        header[AT_LINE] = i
        header[AT_ROW] = NOTHING
        while row < end[i]:
            found = bits[row] & ~settings[OWN]
            if settings[OWN] != 0:
                found |= extra[extra_at[i] + row - begin[i]]
            symbol = symbol_of(found, settings[MASK], direct, slot_bits, slot_numbers)
            if symbol == UNKNOWN:
                header[AT_ROW] = row
                header[UNKNOWN_BITS] = found
                return NEW_SYMBOL
            at = ordinal[i] + row - begin[i]
            if settings[ALL_TRAILING] or found & settings[TRAILING] != 0:
                lines[line, COMPLETE] = 0
            complete = step(symbols, transitions, lines, line, symbol, at == lines[line, FIRST])
            if complete > 0 and not is_barred(settings, lines, line, times[row] if settings[BY_TIME] else at):
                lines[line, COMPLETE] = add_counts(lines[line, COMPLETE], complete)
            row += 1
    header[AT_LINE] = len(chosen)
    return DONE
