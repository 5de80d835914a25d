"""The matches that backtracking found, in their order."""

from __future__ import annotations

import numpy as np

from ostinato.kernels import backtrack_table as table
from ostinato.runtime.matches import Matches
from ostinato.runtime.ordered_matches import ordered_matches


def read_matches(nodes: np.ndarray, found: np.ndarray, variable_of: np.ndarray) -> Matches:
    """Per key, by completing event, then by the events selected. `found` has them key by key, in the order of the search."""
    by_key = np.cumsum(np.concatenate([[0], found[1:, 1] != found[:-1, 1]]))
    found = found[np.lexsort((nodes[found[:, 0], table.ORDINAL], by_key))]
    offsets = np.concatenate([[0], np.cumsum(nodes[found[:, 0], table.LENGTH])])
    ordinals, components = _unrolled(nodes, found[:, 0], offsets)
    return ordered_matches(found[:, 1].copy(), offsets, ordinals, components, variable_of)


def _unrolled(nodes: np.ndarray, last: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Events and components of all matches, written backwards, one event of each at a time."""
    ordinals, components = np.empty(offsets[-1], np.int64), np.empty(offsets[-1], np.uint8)
    node, place = last, offsets[1:] - 1
    while len(node):
        ordinals[place] = nodes[node, table.ORDINAL]
        components[place] = nodes[node, table.BOUND_TO]
        node = nodes[node, table.BEFORE]
        goes_on = node != table.NOTHING
        node, place = node[goes_on], place[goes_on] - 1
    return ordinals, components
