"""Matches laid out in arrays, put into another order."""

from __future__ import annotations

from ostinato.kernels._jit import jit


@jit("void(int64[::1], uint8[::1], int64[::1], int64[::1], int64[::1], uint8[::1], int64[::1])")
def copy_matches(offsets, variables, ordinals, chosen, moved, to_variables, to_ordinals):
    """Match `chosen[i]` of the one layout becomes match i of the other. Without ordinals (empty arrays) the variables alone."""
    listed = len(ordinals) > 0
    for i in range(len(chosen)):
        begin = offsets[chosen[i]]
        to = moved[i]
        for step in range(moved[i + 1] - to):
            to_variables[to + step] = variables[begin + step]
        if listed:
            for step in range(moved[i + 1] - to):
                to_ordinals[to + step] = ordinals[begin + step]
