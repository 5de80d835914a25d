"""How an attempt begins: one thread in the initial state of the automaton."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import inlined
from ostinato.kernels.places import place
from ostinato.kernels.scan.scan_dfa import ACCEPTS
from ostinato.kernels.threads.thread_layout import ACCEPTING, COUNT, HALF, NO_NODE, NODE_BASE, NODES, NULL, NUMBER, WAY_MASK, WAY_VARIABLE


@inlined
def begin_attempt(start, number, first, ways, marks, initials, bits, shift, limit, threads, registers, register_valid, fresh, control):
    """Put one thread into the initial state, at the first row from `start` on that may be mapped to anything; returns that row.
    `number` is that of the match, if one is found; `initials`: the initial state, and that of the first row of a partition."""
    initial = initials[1 if start == 0 else 0]
    while start < limit and marks[initial, ACCEPTING] != ACCEPTS:
        possible, has = False, np.int64(bits[place(start + shift)])
        for m in range(first[initial], first[initial + 1]):
            mask = ways[place(m), WAY_MASK]
            possible = possible or (ways[place(m), WAY_VARIABLE] >= 0 and has & mask == mask)
        if possible:
            break
        start += 1
        initial = initials[0]
    control[HALF], control[COUNT], control[NODE_BASE] = 0, 1, control[NODES]
    threads[0, 0], threads[0, 1] = initial, NO_NODE
    for r in range(registers.shape[1]):
        registers[0, r], register_valid[0, r] = (number if fresh[r] == NUMBER else 0), fresh[r] != NULL
    return start
