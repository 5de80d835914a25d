"""What the saved state of negation must be: how far each partition was looked at, and the matches that wait."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.negation.negation_gaps import OUT, WAITS
from ostinato.program.pattern import EventPattern
from ostinato.runtime.matches.saved_matches import check_saved_matches
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
    count = check_saved_matches(state, pattern, keys)
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
