"""How many matches a graph of partial matches holds, and how many events they have together, without listing them.

Both numbers of a node follow from those of the nodes that it points to. A window cuts off branches, so that they hold for one lower bound
of starts; they are kept from one completing event to the next where the bound is the same. Numbers beyond 64 bits stay at FULL."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import inlined, jit
from ostinato.kernels.aggregation.aggregation_cells import FULL, add_counts
from ostinato.kernels.compact import start_heaps as compact
from ostinato.kernels.output.match_nodes import BEFORE as RUN_BEFORE
from ostinato.kernels.output.match_nodes import BOUND_TO
from ostinato.kernels.runs import run_nodes as runs

NOTHING = -1
NO_EVENT = -2  # stands before a node that is no event, but the union of two others

# What the nodes are
HEAPS = 0  # of the strategy compact
WAYS = 1  # of runs

# Columns of `memo`
STAMP = 0  # the bound for which a node was counted, by number; 0 for none
MATCHES = 1
EVENTS = 2
MEMO_COLUMNS = 3


@inlined
def links(nodes, form, node):
    """What stands before the event of a node, and two nodes whose matches are as good as its own."""
    if form == HEAPS:
        return nodes[node, compact.BEFORE], nodes[node, compact.LEFT], nodes[node, compact.RIGHT]
    if nodes[node, BOUND_TO] == runs.UNION:
        return np.int64(NO_EVENT), nodes[node, RUN_BEFORE], nodes[node, runs.OTHER]
    return nodes[node, RUN_BEFORE], np.int64(NOTHING), np.int64(NOTHING)


@inlined
def alive(nodes, form, node, earliest_start):
    """Whether anything that is reached through the node starts late enough."""
    return node >= 0 and nodes[node, compact.NEWEST if form == HEAPS else runs.NEWEST] >= earliest_start


@inlined
def sum_up(nodes, form, node, earliest_start, memo):
    """The numbers of a node, where those of all that it points to are known."""
    before, one, other = links(nodes, form, node)
    matches, events = np.int64(0), np.int64(0)
    if before != NO_EVENT:
        matches = np.int64(1) if before == NOTHING else memo[before, MATCHES]
        events = matches if before == NOTHING else add_counts(matches, memo[before, EVENTS])
    for child in (one, other):
        if alive(nodes, form, child, earliest_start):
            matches = add_counts(matches, memo[child, MATCHES])
            events = add_counts(events, memo[child, EVENTS])
    memo[node, MATCHES] = matches
    memo[node, EVENTS] = events


@inlined
def count_from(nodes, form, first, earliest_start, stamp, memo, stack):
    """Of all matches that are reached from a node, into `memo[first]`. What a node needs is counted before it; no node waits twice."""
    depth = 0
    stack[0] = first
    while depth >= 0:
        node = stack[depth]
        needed = NOTHING
        for child in links(nodes, form, node):
            if alive(nodes, form, child, earliest_start) and memo[child, STAMP] != stamp:
                needed = child
        if needed != NOTHING:
            depth += 1
            stack[depth] = needed
        else:
            memo[node, STAMP] = stamp
            sum_up(nodes, form, node, earliest_start, memo)
            depth -= 1


@jit("void(int64[:,::1], int64, int64, int64[::1], int64[::1], int64, int64[::1])")
def count_matches(nodes, form, used, lasts, earliest_starts, most, total):
    """The matches that end with the nodes `lasts` and start no earlier than `earliest_starts`: how many and with how many events, added to
    `total`. No further than to `most` events, since these may be any number. Beside `lasts` in a heap stand other matches."""
    memo = np.zeros((used, MEMO_COLUMNS), np.int64)
    stack = np.empty(used + 1, np.int64)
    stamp = 0
    for i in range(len(lasts)):
        if i == 0 or earliest_starts[i] != earliest_starts[i - 1]:
            stamp += 1
        first = nodes[lasts[i], compact.BEFORE] if form == HEAPS else lasts[i]
        matches, events = np.int64(1), np.int64(0)
        if first != NOTHING:
            if memo[first, STAMP] != stamp:
                count_from(nodes, form, first, earliest_starts[i], stamp, memo, stack)
            matches, events = memo[first, MATCHES], memo[first, EVENTS]
        if form == HEAPS:
            events = add_counts(matches, events)
        total[0] = add_counts(total[0], matches)
        total[1] = add_counts(total[1], events)
        if total[1] > most:
            return


def matches_of_heaps(nodes: np.ndarray, found: np.ndarray, span: int, most: int) -> tuple[int, int]:
    """Of entries (last node, partition, time or ordinal of completion) of the strategy compact, within a window of `span`."""
    earliest_starts = np.full(len(found), np.iinfo(np.int64).min) if span == FULL else found[:, 2] - span
    return _counted(nodes, HEAPS, found[:, 0], earliest_starts, most)


def matches_of_runs(nodes: np.ndarray, found: np.ndarray, most: int) -> tuple[int, int]:
    """Of entries as in `run_nodes`."""
    return _counted(nodes, WAYS, found[:, runs.LAST_NODE], found[:, runs.LOWEST], most)


def _counted(nodes: np.ndarray, form: int, lasts: np.ndarray, earliest_starts: np.ndarray, most: int) -> tuple[int, int]:
    total = np.zeros(2, np.int64)
    used = int(lasts.max(initial=-1)) + 1
    count_matches(nodes, form, used, np.ascontiguousarray(lasts), np.ascontiguousarray(earliest_starts), most, total)
    return int(total[0]), int(total[1])
