"""Matches of event patterns put in order: per partition by completing event, then by the events selected."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.run_matches import order_matches
from ostinato.runtime.matches import Matches


def ordered_matches(keys: np.ndarray, offsets: np.ndarray, ordinals: np.ndarray, components: np.ndarray, variables: np.ndarray) -> Matches:
    """Matches that come partition by partition and event by event. `variables` says which one a component binds."""
    count = len(keys)
    if not count:
        return Matches.none()
    order = np.arange(count)
    order_matches(keys, offsets, ordinals, components, order)
    names = variables[components]
    if (order[1:] > order[:-1]).all():
        return Matches(keys, ordinals[offsets[:-1]], offsets, names, ordinals)
    lengths = np.diff(offsets)[order]
    moved = np.concatenate([[0], np.cumsum(lengths)])
    source = np.repeat(offsets[order] - moved[:-1], lengths) + np.arange(moved[-1])
    return Matches(keys[order], ordinals[offsets[order]], moved, names[source], ordinals[source])
