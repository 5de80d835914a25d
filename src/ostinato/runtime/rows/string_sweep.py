"""Strings that nothing refers to any more are forgotten, so that an endless supply of texts needs bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ostinato.expr.typing.types import Kind
from ostinato.program.pattern import Pattern
from ostinato.runtime.matcher import RemembersStrings

if TYPE_CHECKING:
    from ostinato.runtime.session.session import Session

LOOKED_INTO = ("scan", "compact", "runs", "backtrack")  # strategies whose codes are all found
SWEEP_FROM = 131_072  # strings; below, forgetting some is not worth the work


class StringSweep:
    """Sweeps when the pool has grown to four times what was in use the last time: the cost per new string is constant."""

    def __init__(self, first: int = SWEEP_FROM) -> None:
        self._first = self._at = first

    def sweep(self, session: Session, at_once: bool = False) -> None:
        """`at_once`: not when it is worth the work, but because there is no room."""
        if (len(session.pool) < self._at and not at_once) or not _is_known(session.pattern):
            return
        used = np.zeros(len(session.pool), np.bool_)
        for codes in _held(session):
            used[codes[(codes >= 0) & (codes < len(used))]] = True
        _recode(session, session.pool.keep(used))
        self._at = max(self._first, 4 * len(session.pool))


def _is_known(pattern: Pattern) -> bool:
    """Whether all codes are found: in rows, in keys, and in the registers of runs. Other matchers with registers, and values kept for
    aggregates, are not looked into, and keep their strings."""
    if pattern.output == "aggregates":
        return False
    return pattern.evaluation in LOOKED_INTO


def _held(session: Session) -> list[np.ndarray]:
    _, index = session.rows.retained()
    held = [column[index] for column in _columns(session)]
    if session.keys is not None:
        held += session.keys.codes()
    return held + (session.matcher.codes() if isinstance(session.matcher, RemembersStrings) else [])


def _columns(session: Session) -> list[np.ndarray]:
    """The arrays of the arena that hold codes. Of rows that were not evaluated yet, slots hold anything."""
    data = session.rows.arena.data
    texts = [name for name, type_ in session.stored.items() if type_.kind is Kind.STRING]
    slots = [i for i, type_ in enumerate(session.pattern.slots) if type_.kind is Kind.STRING]
    return [data[session.rows.held_as(name)] for name in texts] + [data["slots"][:, i] for i in slots]


def _recode(session: Session, new_of_old: np.ndarray) -> None:
    _, index = session.rows.retained()
    for column in _columns(session):
        codes = column[index]
        known = (codes >= 0) & (codes < len(new_of_old))
        column[index[known]] = new_of_old[codes[known]]
    if session.keys is not None:
        session.keys.recode(new_of_old)
    if isinstance(session.matcher, RemembersStrings):
        session.matcher.recode(new_of_old)
