"""Where a match may start: rows are read backwards, before attempts are made.

Most attempts of a scan fail, and each reads a few rows before it does. Read backwards, every row is looked at once: the state is the
set of automaton states from which the rows behind can complete a match, so that a row is worth an attempt if the initial state is
among them. Behind the last known row anything may come, so that the first state of each walk is the set of all states: rows near
the end of a block are marked too often, never too seldom. The window of a pattern is not looked at.

`table` is laid out as that of the scan: `table[state * width + symbol]` is twice the place where the next state begins, plus one if a
match may start at the row; UNKNOWN if nobody has asked yet."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import inlined

ANYTHING = 0  # the state of which all automaton states are part
LEAST, MOST = 32, 4096  # rows of a block


@inlined
def mark_starts(first, stop, shift, bits, mask, table, marks):
    """Put the rows from `first` to `stop` at which a match may start into `marks`, the last one first, and return how many there are.
    Where a transition is not known: its place in the table less what makes it negative, and the row in `marks[0]`."""
    place, count, at = np.int64(0), np.int64(0), stop
    while at > first:
        at -= 1
        here = place + np.int64(bits[np.uint64(at + shift)] & mask)
        entry = np.int64(table[np.uint64(here)])
        if entry < 0:
            marks[0] = at
            return ~here
        marks[np.uint64(count)] = at
        count += entry & 1
        place = entry >> 1
    return count
