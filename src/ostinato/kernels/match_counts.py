"""How many matches a graph of partial matches holds, and how many events they have together, without listing them.

Both numbers of a node follow from those of the nodes that it points to. A window cuts off branches, so that they hold for one lower bound
of starts; they are kept from one completing event to the next where the bound is the same. Numbers beyond 64 bits stay at FULL."""

from __future__ import annotations

import numpy as np

from ostinato.kernels import compact_nodes as compact
from ostinato.kernels import run_nodes as runs
from ostinato.kernels._jit import inlined, jit
from ostinato.kernels.match_nodes import BEFORE as RUN_BEFORE
from ostinato.kernels.match_nodes import BOUND_TO
from ostinato.kernels.tally_cells import FULL, add_counts

NOTHING = -1

# Columns of `memo`
STAMP = 0  # the bound for which a node was counted, by number; 0 for none
MATCHES = 1
EVENTS = 2
MEMO_COLUMNS = 3


@inlined
def add_child(memo, node, child):
    memo[node, MATCHES] = add_counts(memo[node, MATCHES], memo[child, MATCHES])
    memo[node, EVENTS] = add_counts(memo[node, EVENTS], memo[child, EVENTS])


@inlined
def add_here(memo, node, before):
    """The matches that end with the event of a node, whose beginnings are those of `before`."""
    own = np.int64(1) if before == NOTHING else memo[before, MATCHES]
    memo[node, MATCHES] = add_counts(memo[node, MATCHES], own)
    memo[node, EVENTS] = add_counts(memo[node, EVENTS], own)
    if before != NOTHING:
        memo[node, EVENTS] = add_counts(memo[node, EVENTS], memo[before, EVENTS])


@inlined
def alive(nodes, child, newest, cut):
    return child != NOTHING and nodes[child, newest] >= cut


@inlined
def count_heap(nodes, heap, cut, stamp, memo, stack):
    """Of all nodes in a heap of the strategy compact, into `memo[heap]`. What a node needs is counted first; no node waits twice."""
    depth = 0
    stack[0] = heap
    while depth >= 0:
        node = stack[depth]
        needed = NOTHING
        for link in (compact.BEFORE, compact.LEFT, compact.RIGHT):
            child = nodes[node, link]
            if alive(nodes, child, compact.NEWEST, cut) and memo[child, STAMP] != stamp:
                needed = child
        if needed != NOTHING:
            depth += 1
            stack[depth] = needed
            continue
        memo[node, STAMP] = stamp
        memo[node, MATCHES] = 0
        memo[node, EVENTS] = 0
        add_here(memo, node, nodes[node, compact.BEFORE])
        for link in (compact.LEFT, compact.RIGHT):
            if alive(nodes, nodes[node, link], compact.NEWEST, cut):
                add_child(memo, node, nodes[node, link])
        depth -= 1


@jit("void(int64[:,::1], int64, int64[:,::1], int64, int64, int64, int64[::1])")
def count_compact(nodes, used, found, first, count, span, total):
    """The matches of `found[first:count]`: how many and with how many events, added to `total`."""
    memo = np.zeros((used, MEMO_COLUMNS), np.int64)
    stack = np.empty(used + 1, np.int64)
    stamp = 0
    last_cut = np.int64(0)
    for i in range(first, count):
        cut = np.iinfo(np.int64).min if span == FULL else found[i, 2] - span
        if stamp == 0 or cut != last_cut:
            stamp += 1
            last_cut = cut
        before = nodes[found[i, 0], compact.BEFORE]
        own, events = np.int64(1), np.int64(0)
        if before != NOTHING:
            if memo[before, STAMP] != stamp:
                count_heap(nodes, before, cut, stamp, memo, stack)
            own, events = memo[before, MATCHES], memo[before, EVENTS]
        total[0] = add_counts(total[0], own)
        total[1] = add_counts(total[1], add_counts(own, events))


@inlined
def count_ways(nodes, last, lowest, stamp, memo, stack):
    """Of all ways back from a node of runs, into `memo[last]`."""
    depth = 0
    stack[0] = last
    while depth >= 0:
        node = stack[depth]
        union = nodes[node, BOUND_TO] == runs.UNION
        before = nodes[node, RUN_BEFORE]
        other = nodes[node, runs.OTHER] if union else NOTHING
        if not alive(nodes, other, runs.NEWEST, lowest):
            other = NOTHING
        needed = NOTHING
        for child in (before, other):
            if child != NOTHING and memo[child, STAMP] != stamp:
                needed = child
        if needed != NOTHING:
            depth += 1
            stack[depth] = needed
            continue
        memo[node, STAMP] = stamp
        memo[node, MATCHES] = 0
        memo[node, EVENTS] = 0
        if union:
            add_child(memo, node, before)
            if other != NOTHING:
                add_child(memo, node, other)
        else:
            add_here(memo, node, before)
        depth -= 1


@jit("void(int64[:,::1], int64, int64[:,::1], int64, int64, int64, int64[::1])")
def count_runs(nodes, used, found, first, count, most, total):
    """As `count_compact`, of the matches that runs found; no further than to `most` events, since these may be any number."""
    memo = np.zeros((used, MEMO_COLUMNS), np.int64)
    stack = np.empty(used + 1, np.int64)
    stamp = 0
    lowest = np.int64(0)
    for i in range(first, count):
        if stamp == 0 or found[i, runs.LOWEST] != lowest:
            stamp += 1
            lowest = found[i, runs.LOWEST]
        last = found[i, runs.LAST_NODE]
        if memo[last, STAMP] != stamp:
            count_ways(nodes, last, lowest, stamp, memo, stack)
        total[0] = add_counts(total[0], memo[last, MATCHES])
        total[1] = add_counts(total[1], memo[last, EVENTS])
        if total[1] > most:
            return
