"""Matches of event patterns put in order: per partition by completing event, then by the events selected."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.runs.run_matches import order_matches
from ostinato.runtime.output.matches import Matches


def ordered_matches(keys: np.ndarray, offsets: np.ndarray, ordinals: np.ndarray, components: np.ndarray, variables: np.ndarray) -> Matches:
    """Matches that come partition by partition and event by event; `components` are bytes. `variables` says which one a component
    binds."""
    count = len(keys)
    if not count:
        return Matches.none()
    order = np.arange(count)
    order_matches(keys, offsets, ordinals, components, order)
    names = components if variables.tobytes() == bytes(range(len(variables))) else variables[components]
    matches = Matches(keys, ordinals[offsets[:-1]], offsets, names, ordinals)
    return matches if (order[1:] > order[:-1]).all() else matches.take(order)
