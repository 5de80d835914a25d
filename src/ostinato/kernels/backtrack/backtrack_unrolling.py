"""Matches that backtracking found, written out event by event."""

from __future__ import annotations

from ostinato.kernels._jit import at_first_call
from ostinato.kernels.output.match_nodes import BEFORE, BOUND_TO, NOTHING, ORDINAL


@at_first_call
def unroll(nodes, last, offsets, ordinals, elements):
    """Match i ends with the node `last[i]` and has the places [offsets[i], offsets[i + 1]); nodes lead from its last event to its first."""
    for i in range(len(last)):
        node = last[i]
        place = offsets[i + 1]
        while node != NOTHING:
            place -= 1
            ordinals[place] = nodes[node, ORDINAL]
            elements[place] = nodes[node, BOUND_TO]
            node = nodes[node, BEFORE]
