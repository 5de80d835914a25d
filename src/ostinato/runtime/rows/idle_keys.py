"""Partitions in which nothing is begun are forgotten, so that an endless supply of keys needs bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ostinato.program.pattern import Pattern, RowPattern
from ostinato.runtime.negation.outside_reach import outside_reach
from ostinato.runtime.rows.keyed_rows import KeyedRows
from ostinato.runtime.rows.longer_arrays import grown
from ostinato.runtime.rows.reorder import NEVER

if TYPE_CHECKING:
    from ostinato.runtime.session.session import Session

FORGET_FROM = 65_536  # keys; below, forgetting idle ones is not worth the work


class IdleKeys:
    """Looks at the keys when they are twice those that were live the last time: the cost per new key is constant."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern
        self._reach = outside_reach(pattern)
        self._all_remembered = _counts_from_first_row(pattern)
        self._at = FORGET_FROM
        by_time = pattern.within >= 0 and pattern.within_unit == "time"
        self._settled_by_time = pattern.look_ahead > 0 and not self._reach.after and by_time

    def awaited(self, rows: KeyedRows, keys: np.ndarray, horizon: int) -> int | np.ndarray:
        """How many rows of each key wait for rows behind them. Once the window of the last one is over, none of them is in a match with a
        later row; then only a condition that looks behind the match waits for one."""
        ahead, within = self._pattern.look_ahead, self._pattern.within
        if not self._settled_by_time or horizon <= NEVER + within:
            return ahead
        last = np.maximum(rows.offset[keys] + rows.length[keys] - 1, 0)
        over = (rows.length[keys] > 0) & (rows.times[last] < horizon - within)
        return np.where(over, 0, ahead)

    def forget(self, session: Session) -> None:
        """Drop keys that hold nothing when most of them do."""
        keys = session.keys
        if keys is None or len(keys) < self._at or self._all_remembered:
            return
        known = np.arange(len(keys))
        live = known[self._needed(session, known) | ~session.matcher.idle(known)]
        if 2 * len(live) <= len(known):
            session.keys, old_of_new = keys.kept(live, session.pool)
            session.rows.renumber(old_of_new)
            session.matcher.renumber(old_of_new)
            session.evaluated = session.evaluated[old_of_new]
            session.report.renumber(old_of_new)
        self._at = max(FORGET_FROM, 2 * len(live))

    def _needed(self, session: Session, keys: np.ndarray) -> np.ndarray:
        """Which of `keys` must stay although nothing is begun: rows wait, later rows may look back at those that are kept, or their
        matches are counted."""
        rows, report = session.rows, session.report
        if self._reach.before:
            needed = rows.length[keys] > 0
        else:
            needed = rows.base[keys] + rows.length[keys] > session.evaluated[keys]
        return needed | (grown(report.numbered, rows.key_count)[keys] > 0) if report.needs_numbers else needed


def _counts_from_first_row(pattern: Pattern) -> bool:
    """Whether a partition must not be taken for a new one when rows come after a while."""
    return (isinstance(pattern, RowPattern) and pattern.nfa.looks_at_start) or any(register.number for register in pattern.registers)
