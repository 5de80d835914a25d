"""Matches of a session that was restored: a snapshot can hold partial matches whose window is another than their rows say. Their rows may
be gone when they are complete; that is seen here, before anything reads them."""

from __future__ import annotations

import numpy as np

from ostinato.base.errors import StateError
from ostinato.kernels.output.match_dag import EVENT, NOTHING, OWNER
from ostinato.runtime.matches.match_dag import MatchDag
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.rows.pattern_rows import PatternRows


def check_held(matches: Matches | MatchDag, rows: PatternRows) -> None:
    """Refuse matches of rows that are not retained."""
    if isinstance(matches, MatchDag):
        events = matches.graph[matches.graph[:, EVENT] != NOTHING]
        held = _are_held(rows, events[:, OWNER], events[:, EVENT], events[:, EVENT])
    elif matches.ordinals is None:
        last = matches.start + np.diff(matches.offsets) - 1
        held = _are_held(rows, matches.key, matches.start, np.maximum(last, matches.start))
    else:
        key = np.repeat(matches.key, np.diff(matches.offsets))
        held = _are_held(rows, key, matches.ordinals, matches.ordinals)
    if not held:
        raise StateError(
            "the snapshot that this session began with is not valid",
            detail="a match has rows that are gone",
            hint="restore one that a session of this query made",
        )


def _are_held(rows: PatternRows, keys: np.ndarray, first: np.ndarray, last: np.ndarray) -> bool:
    if not len(keys):
        return True
    if keys.min() < 0 or keys.max() >= rows.key_count:
        return False
    base = rows.base[keys]
    return bool((first >= base).all() and (last < base + rows.length[keys]).all())
