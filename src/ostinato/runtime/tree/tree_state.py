"""What the saved state of a nested pattern must be."""

from __future__ import annotations

import numpy as np

from ostinato.program.tree import TreePattern
from ostinato.runtime.matches.saved_matches import check_saved_matches
from ostinato.runtime.snapshots.state_check import StateCheck


def check_tree(state: StateCheck, pattern: TreePattern) -> None:
    following = state.read_up_to("next")
    keys = len(following)
    base, end = state.rows.bounds(keys)
    for name in ("keep", "read"):
        state.between(state.array(name, np.int64, keys), 0, end, f"{name}: rows that have come")
    state.require(bool((following >= base).all() and (following <= end).all()), "rows that are held to go on with")
    state.counters("matches", 1)
    waiting = check_saved_matches(state.part("waiting."), pattern, keys)
    held = check_saved_matches(state.part("held."), pattern, keys)
    branches = state.array("branches", np.int64, waiting)
    state.index(branches, len(pattern.branches), "branches of matches")
    late = np.array([any(negation.trails for negation in branch.negations) for branch in pattern.branches], np.bool_)
    state.require(bool(late[branches].all()), "branches whose matches wait")
    for name, count in (("limits", waiting), ("waiting_ends", waiting), ("held_ends", held)):
        state.array(name, np.int64, count)
    _whole(state, pattern, branches)


def _whole(state: StateCheck, pattern: TreePattern, branches: np.ndarray) -> None:
    """A match that waits has an event for every variable of its branch: the search takes them from there."""
    waiting = state.part("waiting.")
    owner = np.repeat(np.arange(len(branches)), np.diff(waiting["offsets"]))
    variables = waiting["variables"]
    for number, branch in enumerate(pattern.branches):
        concerned = branches == number
        for variable in branch.variables:
            has = np.zeros(len(branches), np.bool_)
            has[owner[variables == variable]] = True
            state.require(bool(has[concerned].all()), "an event for every variable of a match that waits")
