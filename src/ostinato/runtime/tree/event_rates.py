"""How many events of each kind a window has, from a sample of the rows that are held."""

from __future__ import annotations

import numpy as np

from ostinato.program.tree import TreePattern
from ostinato.runtime.rows.pattern_rows import PatternRows

MOST_KEYS, MOST_ROWS = 64, 4096


def event_rates(pattern: TreePattern, rows: PatternRows, keys: np.ndarray) -> dict[int, float]:
    """Per variable of the tree."""
    keys = keys[rows.length[keys] > 0]
    keys = keys[:: -(-len(keys) // MOST_KEYS) or 1]
    if not len(keys):
        return dict.fromkeys(range(len(pattern.tree)), 1.0)
    room = MOST_ROWS // len(keys)
    places = [np.arange(offset, offset + length, -(-length // room)) for offset, length in _regions(rows, keys)]
    words = rows.bits[np.concatenate(places)]
    window = float(np.mean([_window(pattern, rows.times[offset : offset + length]) for offset, length in _regions(rows, keys)]))
    bits = {variable.bit for variable in pattern.tree if variable.bit >= 0}
    share = {bit: float(((words >> words.dtype.type(bit)) & words.dtype.type(1)).mean()) for bit in bits}
    return {number: window * share.get(variable.bit, 1.0) for number, variable in enumerate(pattern.tree)}


def _regions(rows: PatternRows, keys: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(rows.offset[keys].tolist(), rows.length[keys].tolist(), strict=True))


def _window(pattern: TreePattern, times: np.ndarray) -> float:
    """How many of these rows a window has."""
    if pattern.within < 0:
        return float(len(times))
    if pattern.within_unit == "events":
        return float(min(pattern.within, len(times)))
    span = int(times[-1]) - int(times[0])
    return float(len(times)) * min(1.0, pattern.within / span) if span > 0 else float(len(times))
