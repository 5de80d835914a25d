"""What the saved matches of a matcher must be, whatever they wait for."""

from __future__ import annotations

import numpy as np

from ostinato.program.pattern import Pattern
from ostinato.runtime.snapshots.state_check import ANY, StateCheck


def check_saved_matches(state: StateCheck, pattern: Pattern, keys: int) -> int:
    """Matches with their rows listed, of the first `keys` partitions; returns how many there are."""
    key = state.array("key", np.int64, ANY)
    count = len(key)
    start = state.array("start", np.int64, count)
    offsets = state.array("offsets", np.int64, count + 1)
    ordinals = state.array("ordinals", np.int64, ANY)
    variables = state.array("variables", np.uint8, len(ordinals))
    state.index(key, keys, "keys of matches")
    state.require(int(offsets[0]) == 0, "matches from the first row on")
    state.offsets(offsets[1:], len(ordinals), "rows of matches side by side")
    state.require(bool((offsets[1:] > offsets[:-1]).all()) and int(offsets[-1]) == len(ordinals), "matches with rows")
    owner = np.repeat(np.arange(count), np.diff(offsets))
    state.ordinals_of(key[owner], ordinals, "matches of retained rows")
    state.require(bool(((ordinals[1:] > ordinals[:-1]) | (owner[1:] != owner[:-1])).all()), "rows of matches in order")
    state.require(bool((start == ordinals[offsets[:-1]]).all()), "the first rows of matches")
    state.index(variables, len(pattern.variables), "variables of matches")
    return count
