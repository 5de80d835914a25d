"""The matches that backtracking found, in their order."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.backtrack import backtrack_table as table
from ostinato.kernels.backtrack.backtrack_unrolling import unroll
from ostinato.runtime.matches.listing import Listing
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.matches.ordered_matches import ordered_matches


def read_matches(nodes: np.ndarray, found: np.ndarray, variable_of: np.ndarray, listing: Listing) -> Matches:
    """Per key, by completing event, then by the events selected. `found` has them key by key, in the order of the search."""
    by_key = np.cumsum(np.concatenate([[0], found[1:, 1] != found[:-1, 1]]))
    found = found[np.lexsort((nodes[found[:, 0], table.ORDINAL], by_key))]
    last, keys = found[:, 0].copy(), found[:, 1].copy()
    offsets = np.concatenate([[0], np.cumsum(nodes[last, table.LENGTH])])
    listing.allow(len(keys), int(offsets[-1]))
    ordinals, elements = np.empty(offsets[-1], np.int64), np.empty(offsets[-1], np.uint8)
    unroll(nodes, last, offsets, ordinals, elements)
    return ordered_matches(keys, offsets, ordinals, elements, variable_of)
