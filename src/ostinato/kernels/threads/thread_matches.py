"""The matches of ordered threads: their paths as runs of rows of one variable, and where the search goes on behind them."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import inlined
from ostinato.kernels.output.match_runs import LONGEST_RUN, run_of, run_rows, run_variable
from ostinato.kernels.scan.scan_dfa import TO_NEXT_ROW
from ostinato.kernels.threads.thread_layout import ALLOWED, FOUND, NEEDED, PLACED, REPEATS, RUNS, TO_FIRST, VARIABLES


@inlined
def report(k, start, end, node, nodes, out, runs, control):
    """Write a match and the runs on its path, from its last row to its first; False if there is no room."""
    rows = end - start
    if control[FOUND] == out.shape[1] or control[PLACED] + rows > control[ALLOWED] or control[RUNS] + rows > len(runs):
        control[NEEDED] = rows
        return False
    control[PLACED] += rows
    at, variable, left = control[RUNS], np.int64(0), np.int64(0)
    while node >= 0:
        before, repeats = nodes[node, 1] & VARIABLES, (nodes[node, 1] >> REPEATS) + 1
        if before != variable:
            at, left = write_runs(at, variable, left, runs), np.int64(0)
        variable, left, node = before, left + repeats, nodes[node, 0]
    at = write_runs(at, variable, left, runs)
    found = control[FOUND]
    out[0, found], out[1, found], out[2, found], out[3, found] = k, start, end, at
    control[RUNS], control[FOUND] = at, found + 1
    return True


@inlined
def write_runs(at, variable, rows, runs):
    """So many rows of a variable, behind `at`; returns what is behind them."""
    while rows > 0:
        runs[at] = run_of(variable, min(rows, LONGEST_RUN))
        rows -= LONGEST_RUN
        at += 1
    return at


@inlined
def skipped_to(length, out, runs, skip, skip_members, control):
    """How far behind the start of the match that was reported last the search goes on; -1 if it has no row to skip to."""
    found, left = np.int64(-1), length
    begin = out[3, control[FOUND] - 2] if control[FOUND] > 1 else 0
    for at in range(begin, control[RUNS]):
        if skip_members[run_variable(runs[at])]:
            found = left - (run_rows(runs[at]) if skip == TO_FIRST else 1)
            if skip != TO_FIRST:
                break
        left -= run_rows(runs[at])
    return found


@inlined
def advanced(start, end, out, runs, skip, skip_members, setting, control):
    """By how much the search goes on behind an attempt that began at `start`, with a match up to `end`, which was reported, or none (-1);
    0 and less: it cannot, see `skipped_to`."""
    if end <= start:
        return np.int64(1)
    if skip != 0:
        return skipped_to(end - start, out, runs, skip, skip_members, control)
    return np.int64(1) if setting[TO_NEXT_ROW] != 0 else end - start
