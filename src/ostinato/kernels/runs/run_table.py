"""Partial matches in flat arrays: a table of runs with a free list, and the lists that the runs of a key form.

A run is a row of `runs`; its registers have the same number. Runs 0 and 1 are reserved: registers of a binding that is not kept,
and the empty run from which every match starts. The runs of a key form a list in the order of their starts (LATER, EARLIER), so
that those whose window is over are found at its beginning. What an event can affect is found by other lists: `run_index`,
`run_order`, `run_merging`."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import inlined, jit
from ostinato.kernels.runs.run_order import NOTHING, remove

SCRATCH = 0
EMPTY = 1
RESERVED = 2

# Columns of `runs`
ELEMENT = 0
NODE = 1  # last node; where matches are only counted: how many equivalent runs this one stands for
NEXT = 2  # of the runs that wait in the same place, or of the free ones
PREVIOUS = 3
LATER = 4  # of the runs of the key, by start
EARLIER = 5
FIRST_ORDINAL = 6  # where runs of several starts were merged: the latest of them, or the earliest if there is no window
FIRST_TIME = 7
LAST_TIME = 8
LAST_POSITION = 9
KEY = 10
PLACE = 11  # where it waits: a cell of the join index, BY_STATE, NOWHERE or IN_ORDER
OLDEST = 12  # the first event of the earliest start
EQUIVALENT_NEXT = 13
WAS_MATCH = EQUIVALENT_NEXT  # where timeouts are asked for, and no run has equivalents: whether it is a match as it stands
EQUIVALENT_CELL = 14  # its cell among the runs that may have equivalents, or NOTHING
MET = 15  # the stamp of the last event that found it by its join value
RUN_COLUMNS = 16  # two lines of the cache

NEW_RUN_STEPS = 50  # measured: 10 to 30 ns for an offer, about 1 us for a run that is made and finds its place and its equivalents

BY_STATE = -1
NOWHERE = -2
IN_ORDER = -3

# Columns of `per_key`
FIRST_RUN = 0  # by start
LAST_RUN = 1
ALIVE = 2
KEEP = 3  # the first event that a match may still contain
LIMIT = 4  # starts below this one are over, in the unit of the window
WAITING = 5  # from here on, per element: the first of the runs that wait there; where runs wait in order, then the roots of their trees

# Cells of `header`
FREE = 0  # first of the list of free runs
USED = 1  # runs from here on were never used
LIVE = 2
NODES = 3
FOUND = 4  # matches waiting in `found`
MATCHES = 5  # matches ever
ERROR = 6
AT_KEY = 7  # where to go on after the arrays were too small
AT_ROW = 8
EXPIRED = 9
BORN = 10  # runs that are new or have changed, waiting for their place
PEAK = 11
MERGED = 12  # runs that became part of an equivalent one
VISITED = 13  # how often an event was offered to a run
STARTED = 14  # runs ever
STAMP = 15
HEADER_CELLS = 16


@inlined
def steps_made(header):
    """What was done so far, in units of an event that is offered to a run."""
    return header[VISITED] + NEW_RUN_STEPS * header[STARTED]


@inlined
def next_free(header):
    """The run that `claim` will hand out."""
    return header[FREE] if header[FREE] != NOTHING else header[USED]


@inlined
def claim(runs, header, per_key, key, parent):
    """A new run of the key, in the list behind the one whose start it shares (EMPTY: it starts now)."""
    run = header[FREE]
    if run != NOTHING:
        header[FREE] = runs[run, NEXT]
    else:
        run = header[USED]
        header[USED] += 1
    header[LIVE] += 1
    header[STARTED] += 1
    per_key[key, ALIVE] += 1
    before = per_key[key, LAST_RUN] if parent == EMPTY else parent
    after = NOTHING if before == NOTHING else runs[before, LATER]
    runs[run, EARLIER] = before
    runs[run, LATER] = after
    if before == NOTHING:
        per_key[key, FIRST_RUN] = run
    else:
        runs[before, LATER] = run
    if after == NOTHING:
        per_key[key, LAST_RUN] = run
    else:
        runs[after, EARLIER] = run
    runs[run, KEY] = key
    runs[run, PLACE] = NOWHERE
    runs[run, EQUIVALENT_CELL] = NOTHING
    runs[run, MET] = 0


@inlined
def root_of(per_key, state):
    """The column of the tree in which the runs of a state wait in order."""
    return WAITING + (per_key.shape[1] - WAITING) // 2 + state


@inlined
def leave_place(runs, per_key, cells, order, run):
    """Take the run out of the list of those that wait with it."""
    place = runs[run, PLACE]
    if place == IN_ORDER:
        remove(order, per_key, runs[run, KEY], root_of(per_key, runs[run, ELEMENT]), run)
        runs[run, PLACE] = NOWHERE
    elif place != NOWHERE:
        before = runs[run, PREVIOUS]
        after = runs[run, NEXT]
        if after != NOTHING:
            runs[after, PREVIOUS] = before
        if before != NOTHING:
            runs[before, NEXT] = after
        elif place == BY_STATE:
            per_key[runs[run, KEY], WAITING + runs[run, ELEMENT]] = after
        else:
            cells[place] = after
        runs[run, PLACE] = NOWHERE


@inlined
def leave_equivalents(runs, equivalents, run):
    """Take the run out of the table of those that may have equivalents."""
    cell = runs[run, EQUIVALENT_CELL]
    if cell != NOTHING:
        other = equivalents[cell]
        if other == run:
            equivalents[cell] = runs[run, EQUIVALENT_NEXT]
        else:
            while runs[other, EQUIVALENT_NEXT] != run:
                other = runs[other, EQUIVALENT_NEXT]
            runs[other, EQUIVALENT_NEXT] = runs[run, EQUIVALENT_NEXT]
        runs[run, EQUIVALENT_CELL] = NOTHING


@inlined
def release(runs, header, per_key, cells, order, equivalents, run):
    leave_place(runs, per_key, cells, order, run)
    leave_equivalents(runs, equivalents, run)
    key = runs[run, KEY]
    before = runs[run, EARLIER]
    after = runs[run, LATER]
    if before == NOTHING:
        per_key[key, FIRST_RUN] = after
    else:
        runs[before, LATER] = after
    if after == NOTHING:
        per_key[key, LAST_RUN] = before
    else:
        runs[after, EARLIER] = before
    per_key[key, ALIVE] -= 1
    runs[run, ELEMENT] = NOTHING
    runs[run, NEXT] = header[FREE]
    header[FREE] = run
    header[LIVE] -= 1


@jit("void(int64[:,::1], int64[::1], int64[:,::1], int64[::1], int64[:,::1], int64[::1], int64[::1])")
def release_all(runs, header, per_key, cells, order, equivalents, doomed):
    for i in range(len(doomed)):
        release(runs, header, per_key, cells, order, equivalents, doomed[i])


@jit("int64(int64[:,::1], int64, int64[::1])")
def alive_runs(runs, used, out):
    """Collect the numbers of the runs in use; returns how many."""
    count = np.int64(0)
    for run in range(RESERVED, used):
        if runs[run, ELEMENT] != NOTHING:
            out[count] = run
            count += 1
    return count
