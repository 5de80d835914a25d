"""The matches of ordered threads: their paths written out, and where the search goes on behind them."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import inlined
from ostinato.kernels.threads.thread_layout import FOUND, NEEDED, PLACED, REPEATS, TO_FIRST, VARIABLES


@inlined
def report(k, start, end, node, nodes, out, variables, control):
    """Write a match and the variables on its path; False if there is no room."""
    if control[FOUND] == out.shape[1] or control[PLACED] + end - start > len(variables):
        control[NEEDED] = end - start
        return False
    place = control[PLACED] + end - start
    control[PLACED] = place
    out[0, control[FOUND]], out[1, control[FOUND]], out[2, control[FOUND]] = k, start, end
    control[FOUND] += 1
    while node >= 0:
        behind, variable = place, np.uint8(nodes[node, 1] & VARIABLES)
        place -= (nodes[node, 1] >> REPEATS) + 1
        for i in range(place, behind):
            variables[i] = variable
        node = nodes[node, 0]
    return True


@inlined
def skipped_to(length, variables, skip, skip_members, control):
    """How far behind the start of the match that was reported last the search goes on; -1 if it has no row to skip to."""
    place = control[PLACED] - length
    found = -1
    for i in range(length):
        if skip_members[variables[place + i]]:
            found = i
            if skip == TO_FIRST:
                break
    return found
