"""Partial matches in flat arrays: a table of runs with a free list, and the match DAG whose nodes they share.

A run is a row of `runs`; its registers have the same number. Runs 0 and 1 are reserved: registers of a binding that is not kept,
and the empty run from which every match starts. The runs of a key form a list through NEXT. A node is an event bound to a
component, with its predecessor: runs that have a beginning in common share it. A node's predecessor has a smaller number."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined, jit
from ostinato.kernels.arithmetic import TOO_MANY, addition_overflows

SCRATCH = 0
EMPTY = 1
RESERVED = 2
NOTHING = -1

# Columns of `runs`
COMPONENT = 0
FIRST_ORDINAL = 1
FIRST_TIME = 2
LAST_TIME = 3
LAST_POSITION = 4
NODE = 5  # last node; where matches are only counted: how many equivalent runs this one stands for
NEXT = 6
DOOMED = 7  # to be dropped when its key is next looked at
RUN_COLUMNS = 8

# Columns of `nodes`
ORDINAL = 0
BOUND_TO = 1
BEFORE = 2
DEPTH = 3
NODE_COLUMNS = 4

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
BORN = 10
PEAK = 11
HEADER_CELLS = 12


@inlined
def next_free(header):
    """The run that `claim` will hand out."""
    return header[FREE] if header[FREE] != NOTHING else header[USED]


@inlined
def claim(runs, header):
    run = header[FREE]
    if run != NOTHING:
        header[FREE] = runs[run, NEXT]
    else:
        run = header[USED]
        header[USED] += 1
    header[LIVE] += 1
    return run


@inlined
def release(runs, header, run):
    runs[run, NEXT] = header[FREE]
    runs[run, COMPONENT] = NOTHING
    header[FREE] = run
    header[LIVE] -= 1


@inlined
def add_node(nodes, header, ordinal, component, before):
    node = header[NODES]
    nodes[node, ORDINAL] = ordinal
    nodes[node, BOUND_TO] = component
    nodes[node, BEFORE] = before
    nodes[node, DEPTH] = 1 if before == NOTHING else nodes[before, DEPTH] + 1
    header[NODES] = node + 1
    return node


@borrowing
def collect_runs(runs, header, head, key, live):
    """The runs of a key into `live`; returns how many. Doomed ones are released."""
    count = 0
    run = head[key]
    while run != NOTHING:
        following = runs[run, NEXT]
        if runs[run, DOOMED] != 0:
            release(runs, header, run)
        else:
            live[count] = run
            count += 1
        run = following
    return count


@borrowing
def merge_runs(runs, header, live, count, born, spare):
    """Put the new runs among the others, in the order of their starts, where runs that have the same start and are in the same
    component have the same future: one stands for all. Returns how many are left, or an error below 0."""
    i = 0
    j = 0
    merged = 0
    while i < count or j < header[BORN]:
        old = j == header[BORN] or (i < count and runs[live[i], FIRST_ORDINAL] <= runs[born[j], FIRST_ORDINAL])
        run = live[i] if old else born[j]
        i += old
        j += not old
        same = merged - 1
        while same >= 0 and runs[spare[same], FIRST_ORDINAL] == runs[run, FIRST_ORDINAL]:
            if runs[spare[same], COMPONENT] == runs[run, COMPONENT]:
                break
            same -= 1
        if same < 0 or runs[spare[same], FIRST_ORDINAL] != runs[run, FIRST_ORDINAL]:
            spare[merged] = run
            merged += 1
        elif addition_overflows(runs[spare[same], NODE], runs[run, NODE]):
            return TOO_MANY
        else:
            runs[spare[same], NODE] += runs[run, NODE]
            release(runs, header, run)
    for k in range(merged):
        live[k] = spare[k]
    return merged


@borrowing
def link_runs(runs, head, key, live, count):
    before = NOTHING
    for i in range(count - 1, -1, -1):
        runs[live[i], NEXT] = before
        before = live[i]
    head[key] = before


@jit("void(int64[:,::1], int64[::1], int64[::1], int64[::1])")
def earliest_ordinals(runs, head, keys, earliest):
    """Lower `earliest[i]` to the first event of any run of `keys[i]`."""
    for i in range(len(keys)):
        run = head[keys[i]]
        while run != NOTHING:
            earliest[i] = min(earliest[i], runs[run, FIRST_ORDINAL])
            run = runs[run, NEXT]


@jit("int64(int64[:,::1], int64, int64[:,::1], int64, int64[:,::1], int64)")
def compact_nodes(runs, used, nodes, node_count, found, found_count):
    """Drop the nodes that no run and no waiting match reaches; returns how many stay. One pass suffices to move them, because
    predecessors have smaller numbers."""
    target = np.zeros(node_count, np.int64)
    for run in range(RESERVED, used):
        if runs[run, COMPONENT] != NOTHING:
            mark(nodes, target, runs[run, NODE])
    for i in range(found_count):
        mark(nodes, target, found[i, 0])
    kept = 0
    for node in range(node_count):
        if target[node]:
            before = nodes[node, BEFORE]
            nodes[kept, ORDINAL] = nodes[node, ORDINAL]
            nodes[kept, BOUND_TO] = nodes[node, BOUND_TO]
            nodes[kept, BEFORE] = NOTHING if before == NOTHING else target[before]
            nodes[kept, DEPTH] = nodes[node, DEPTH]
            target[node] = kept
            kept += 1
    for run in range(RESERVED, used):
        if runs[run, COMPONENT] != NOTHING:
            runs[run, NODE] = target[runs[run, NODE]]
    for i in range(found_count):
        found[i, 0] = target[found[i, 0]]
    return kept


@borrowing
def mark(nodes, marked, node):
    while node != NOTHING and not marked[node]:
        marked[node] = 1
        node = nodes[node, BEFORE]
