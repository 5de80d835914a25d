"""What the saved state of negation must be: how far each partition was looked at, and the matches that wait."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.negation.negation_gaps import OUT, WAITS
from ostinato.program.pattern import EventPattern
from ostinato.runtime.snapshots.state_check import ANY, StateCheck


def check_progress(state: StateCheck, carried: int, counts: int) -> int:
    """Returns for how many keys there is room."""
    ready = state.read_up_to("ready")
    back_to = state.array("back_to", np.int64, len(ready))
    base, end = state.rows.bounds(len(ready))
    state.between(back_to, base, end, "retained rows to look back at")
    state.array("holds", np.bool_, len(ready))
    state.array("carried", np.int64, len(ready), carried)
    state.counters("counts", counts)
    return len(ready)


def check_waiting(state: StateCheck, pattern: EventPattern, keys: int) -> None:
    key = state.array("key", np.int64, ANY)
    count = len(key)
    start = state.array("start", np.int64, count)
    offsets = state.array("offsets", np.int64, count + 1)
    ordinals = state.array("ordinals", np.int64, ANY)
    variables = state.array("variables", np.uint8, len(ordinals))
    state.index(key, keys, "keys of matches")
    state.require(int(offsets[0]) == 0, "matches from the first row on")
    state.offsets(offsets[1:], len(ordinals), "rows of matches side by side")
    state.require(bool((offsets[1:] > offsets[:-1]).all()), "matches with rows")
    owner = np.repeat(key, np.diff(offsets))
    state.ordinals_of(owner, ordinals, "matches of retained rows")
    same = np.repeat(np.arange(count), np.diff(offsets))
    state.require(bool(((ordinals[1:] > ordinals[:-1]) | (same[1:] != same[:-1])).all()), "rows of matches in order")
    state.require(bool((start == ordinals[offsets[:-1]]).all()), "the first rows of matches")
    state.index(variables, len(pattern.variables), "variables of matches")
    for name in ("done", "limit"):
        state.array(name, np.int64, count)
    state.between(state.array("pending", np.int64, count), 0, (1 << len(pattern.negations)) - 1, "known negations")
    state.between(state.array("state", np.int64, count), WAITS, OUT, "states of matches that wait")


def check_rule(state: StateCheck, output: str, keys: int) -> None:
    if output == "nonoverlapping":
        ended = state.array("ended", np.int64, ANY)
        state.require(len(ended) >= keys, "an end for every partition")
    elif output == "first":
        held = state.array("keys", np.int64, ANY)
        state.index(held, keys, "keys of starts")
        state.array("starts", np.int64, len(held))
