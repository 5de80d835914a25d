"""Matches of event patterns put in order: per partition by completing event, then by the events selected."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.runs.run_matches import order_matches
from ostinato.runtime.matches.matches import Matches

MOVED_AT_ONCE = 1 << 16  # matches


def ordered_matches(keys: np.ndarray, offsets: np.ndarray, ordinals: np.ndarray, elements: np.ndarray, variables: np.ndarray) -> Matches:
    """Matches that come partition by partition and event by event; `elements` are bytes. `variables` says which one an element
    binds. The arrays are taken over: matches are put in order where they lie."""
    count = len(keys)
    if not count:
        return Matches.none()
    order = np.arange(count)
    order_matches(keys, offsets, ordinals, elements, order)
    names = elements if variables.tobytes() == bytes(range(len(variables))) else variables[elements]
    _rearrange(order, Matches(keys, keys, offsets, names, ordinals))
    return Matches(keys, ordinals[offsets[:-1]], offsets, names, ordinals)


def _rearrange(order: np.ndarray, matches: Matches) -> None:
    """Matches change places with others of the same partition and completing event alone, so that a copy of few at a time is enough.
    Where they start is not known yet."""
    begin = 0
    while begin < len(order):
        behind = _closed(order, begin)
        chosen = order[begin:behind] - begin
        if (chosen[1:] < chosen[:-1]).any():
            first, last = int(matches.offsets[begin]), int(matches.offsets[behind])
            moved = matches.part(begin, behind).take(chosen)
            matches.offsets[begin + 1 : behind + 1] = moved.offsets[1:] + first
            matches.variables[first:last] = moved.variables
            matches.listed[first:last] = moved.listed
        begin = behind


def _closed(order: np.ndarray, begin: int) -> int:
    """The end of a piece from `begin` on whose matches stay inside of it."""
    behind = min(begin + MOVED_AT_ONCE, len(order))
    while (needed := int(order[begin:behind].max()) + 1) > behind:
        behind = needed
    return behind
