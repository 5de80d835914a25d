"""Matches of event patterns put in order: per partition by completing event, then by the events selected."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.runs.run_matches import order_matches
from ostinato.runtime.matches.matches import Matches


def ordered_matches(keys: np.ndarray, offsets: np.ndarray, ordinals: np.ndarray, elements: np.ndarray, variables: np.ndarray) -> Matches:
    """Matches that come partition by partition and event by event; `elements` are bytes. `variables` says which one an element
    binds."""
    count = len(keys)
    if not count:
        return Matches.none()
    order = np.arange(count)
    order_matches(keys, offsets, ordinals, elements, order)
    names = elements if variables.tobytes() == bytes(range(len(variables))) else variables[elements]
    matches = Matches(keys, ordinals[offsets[:-1]], offsets, names, ordinals)
    return matches if (order[1:] > order[:-1]).all() else matches.take(order)
