"""Partitions in which nothing is begun are forgotten, so that an endless supply of keys needs bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ostinato.program.pattern import Pattern, RowPattern
from ostinato.runtime.negation.outside_reach import outside_reach
from ostinato.runtime.rows.longer_arrays import grown
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.reorder import NEVER

if TYPE_CHECKING:
    from ostinato.runtime.output.report import Report
    from ostinato.runtime.session.input_rows import InputRows
    from ostinato.runtime.session.pattern_operator import PatternOperator

FORGET_FROM = 65_536  # keys; below, forgetting idle ones is not worth the work


class KeyNeeds:
    """What a pattern asks of a partition in which nothing is begun."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern
        self._reach = outside_reach(pattern)
        self.all_remembered = _counts_from_first_row(pattern)
        self._settled_by_time = pattern.look_ahead > 0 and not self._reach.after and pattern.timed_window >= 0

    def awaited(self, rows: PatternRows, keys: np.ndarray, watermark: int) -> int | np.ndarray:
        """How many rows of each key wait for rows behind them. Once the window of the last one is over, none of them is in a match with a
        later row; then only a condition that looks behind the match waits for one."""
        ahead, within = self._pattern.look_ahead, self._pattern.within
        if not self._settled_by_time or watermark <= NEVER + within:
            return ahead
        last = np.maximum(rows.offset[keys] + rows.length[keys] - 1, 0)
        over = (rows.length[keys] > 0) & (rows.times[last] < watermark - within)
        return np.where(over, 0, ahead)

    def stay(self, rows: PatternRows, keys: np.ndarray, evaluated: np.ndarray, report: Report) -> np.ndarray:
        """Which of `keys` must stay although nothing is begun: rows wait, later rows may look back at those that are kept, or their
        matches are counted."""
        needed = rows.length[keys] > 0 if self._reach.before else rows.base[keys] + rows.length[keys] > evaluated[keys]
        return needed | (grown(report.numbered, rows.key_count)[keys] > 0) if report.needs_numbers else needed


class IdleKeys:
    """Looks at the keys of an input when they are twice those that were live the last time: the cost per new key is constant."""

    def __init__(self) -> None:
        self._at = FORGET_FROM

    def forget(self, source: InputRows, readers: Sequence[PatternOperator]) -> None:
        """Drop keys that hold nothing, for any of those that read them, when most of them do."""
        keys = source.keys
        if keys is None or len(keys) < self._at or any(reader.needs.all_remembered for reader in readers):
            return
        known = np.arange(len(keys))
        needed = np.zeros(len(keys), np.bool_)
        for reader in readers:
            needed |= reader.needed_keys(known)
        live = known[needed]
        if 2 * len(live) <= len(known):
            source.keys, old_of_new = keys.kept(live, source.pool)
            source.rows.renumber(old_of_new)
            for reader in readers:
                reader.renumber(old_of_new)
        self._at = max(FORGET_FROM, 2 * len(live))


def _counts_from_first_row(pattern: Pattern) -> bool:
    """Whether a partition must not be taken for a new one when rows come after a while."""
    anchored = isinstance(pattern, RowPattern) and pattern.nfa.looks_at_start
    return anchored or any(register.number for register in pattern.registers)
