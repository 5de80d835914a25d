"""Equivalent runs are followed as one: runs of a key in the same state whose registers agree as far as later states need them.

Only a run that is new or has changed can have become equivalent to another, which is found in a hash table over what must agree. Where
matches are counted the run that stays counts for both. Where all matches are wanted its node becomes a union, and it lives as long as
the latest start in it. Where only the preferred match is wanted the other run is dropped, if it has no longer to live."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.output.match_nodes import comes_before
from ostinato.kernels.runs.run_index import mixed
from ostinato.kernels.runs.run_layout import (
    COUNT,
    EPOCH,
    MERGES,
    NONOVERLAPPING,
    OUTPUT,
    SAME_START,
    TIMED,
    WATCH_FROM,
    WATCH_TO,
    WITHIN,
    WITHIN_EVENTS,
)
from ostinato.kernels.runs.run_nodes import add_union
from ostinato.kernels.runs.run_table import (
    ELEMENT,
    EQUIVALENT_CELL,
    EQUIVALENT_NEXT,
    FIRST_ORDINAL,
    FIRST_TIME,
    KEY,
    LAST_TIME,
    NODE,
    NOTHING,
    OLDEST,
)
from ostinato.kernels.scalar.arithmetic import IS_VALUE, TOO_MANY, addition_overflows

KEPT_OTHER = 0
KEPT_SELF = 1


@inlined
def start_of(settings, ordinal, time):
    """A start in the unit of the window."""
    return time if settings[TIMED] and not settings[WITHIN_EVENTS] else ordinal


@borrowing
def equivalent_cell(states, watched, settings, runs, registers, register_valid, equivalents, run):
    """Where equivalents of the run would be."""
    state = runs[run, ELEMENT]
    value = mixed(runs[run, KEY], state)
    if settings[MERGES] == SAME_START:
        value = mixed(value, start_of(settings, runs[run, FIRST_ORDINAL], runs[run, FIRST_TIME]))
    if settings[EPOCH]:
        value = mixed(value, runs[run, LAST_TIME])
    for i in range(states[state, WATCH_FROM], states[state, WATCH_TO]):
        if register_valid[run, watched[i]] == IS_VALUE:
            value = mixed(value, registers[run, watched[i]])
    return value & (len(equivalents) - 1)


@borrowing
def equivalent_of(states, watched, settings, runs, registers, register_valid, equivalents, cell, run):
    """A run with the same future, or NOTHING."""
    state = runs[run, ELEMENT]
    start = start_of(settings, runs[run, FIRST_ORDINAL], runs[run, FIRST_TIME])
    other = equivalents[cell]
    while other != NOTHING:
        same = runs[other, ELEMENT] == state and runs[other, KEY] == runs[run, KEY]
        if settings[MERGES] == SAME_START:
            same = same and start == start_of(settings, runs[other, FIRST_ORDINAL], runs[other, FIRST_TIME])
        if settings[EPOCH]:
            same = same and runs[run, LAST_TIME] == runs[other, LAST_TIME]
        if same:
            for i in range(states[state, WATCH_FROM], states[state, WATCH_TO]):
                flag = register_valid[run, watched[i]]
                same = same and flag == register_valid[other, watched[i]]
                same = same and (flag != IS_VALUE or registers[run, watched[i]] == registers[other, watched[i]])
        if same:
            break
        other = runs[other, EQUIVALENT_NEXT]
    return other


@inlined
def join_equivalents(runs, equivalents, cell, run):
    runs[run, EQUIVALENT_NEXT] = equivalents[cell]
    runs[run, EQUIVALENT_CELL] = cell
    equivalents[cell] = run


@borrowing
def merge(settings, runs, nodes, header, run, equivalent):
    """Let one of two runs with the same future stand for both. Says which, or an error below 0; the other is to be released. With a
    window the one with the later start is kept, else the one with the earlier start: its place in the order of starts is right."""
    if settings[OUTPUT] == COUNT:
        if addition_overflows(runs[equivalent, NODE], runs[run, NODE]):
            return TOO_MANY
        runs[equivalent, NODE] += runs[run, NODE]
        return KEPT_OTHER
    if settings[OUTPUT] == NONOVERLAPPING:
        return KEPT_SELF if comes_before(nodes, runs[run, NODE], runs[equivalent, NODE]) else KEPT_OTHER
    later = runs[run, FIRST_ORDINAL] > runs[equivalent, FIRST_ORDINAL]
    kept = run if later == (settings[WITHIN] >= 0) else equivalent
    runs[kept, NODE] = add_union(nodes, header, runs[run, NODE], runs[equivalent, NODE])
    runs[kept, OLDEST] = min(runs[run, OLDEST], runs[equivalent, OLDEST])
    return KEPT_SELF if kept == run else KEPT_OTHER
