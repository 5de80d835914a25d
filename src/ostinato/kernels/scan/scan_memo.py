"""What earlier attempts found out, so that later ones do not walk the same rows again.

An entry says: in automaton state `state` before row `row`, one may go on in state `to_state` before row `to_row`, for nothing in
between ends a match; `to_state` DEAD says that nothing ever will. Entries are made for long walks only, and only at rows whose
ordinal is a multiple of SPACING: a later attempt takes at most that many steps to the next one. An open-addressed table serves
all partitions; a partition's entries share a `region` number, which is given up when its search has passed them."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing

SPACING = 8
LONG = 16  # rows walked in vain before it is worth remembering

REGION, ROW, STATE, TO_ROW, TO_STATE = range(5)
WIDTH = 5
FREE = -1
TOGETHER = 8
LOW_BITS = 0xFFFFFFF  # products of these stay within 64 bits


def new_table(slots: int) -> np.ndarray:
    return np.full((slots, WIDTH), FREE, np.int64)


@borrowing
def home(memo, region, row, state):
    """Where an entry is looked for first. Neighbours lie together, but few at a time: long stretches of several states would grow into
    one another, and every search that finds nothing run to the end of them all."""
    last, entry = len(memo) - 1, row // SPACING
    mixed = (entry // TOGETHER & LOW_BITS) * 0x9E3779B1 + (state & LOW_BITS) * 0x85EBCA6B + (region & LOW_BITS) * 0xC2B2AE35
    return (((mixed ^ (mixed >> 29)) & last) * TOGETHER + entry % TOGETHER) & last


@borrowing
def find(memo, region, row, state):
    """The slot of an entry, or the free slot where it belongs. There is always a free one: the table is at most half full."""
    last = len(memo) - 1
    at = home(memo, region, row, state)
    while memo[at, REGION] != FREE:
        if memo[at, ROW] == row and memo[at, STATE] == state and memo[at, REGION] == region:
            return at
        at = (at + 1) & last
    return at


@borrowing
def put(memo, at, region, row, state, to_row, to_state):
    memo[at, REGION] = region
    memo[at, ROW] = row
    memo[at, STATE] = state
    memo[at, TO_ROW] = to_row
    memo[at, TO_STATE] = to_state


@borrowing("void(int64[:, ::1], int64[:, ::1])")
def insert_all(entries, memo):
    for n in range(len(entries)):
        at = find(memo, entries[n, REGION], entries[n, ROW], entries[n, STATE])
        put(memo, at, entries[n, REGION], entries[n, ROW], entries[n, STATE], entries[n, TO_ROW], entries[n, TO_STATE])
