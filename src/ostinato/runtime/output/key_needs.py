"""Which rows and partitions a pattern still needs although nothing is begun in them."""

from __future__ import annotations

import numpy as np

from ostinato.program.analysis.look_around import look_around
from ostinato.program.pattern import Pattern, RowPattern
from ostinato.runtime.output.report import Report
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.reorder import NEVER


class KeyNeeds:
    """What a pattern asks of a partition in which nothing is begun."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern
        self._look = look_around(pattern)
        self.all_remembered = _counts_from_first_row(pattern)
        self._settled_by_time = pattern.look_ahead > 0 and not self._look.after and pattern.timed_window >= 0

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
        needed = rows.length[keys] > 0 if self._look.before else rows.base[keys] + rows.length[keys] > evaluated[keys]
        return needed | (grown(report.numbered, rows.key_count)[keys] > 0) if report.needs_numbers else needed


def _counts_from_first_row(pattern: Pattern) -> bool:
    """Whether a partition must not be taken for a new one when rows come after a while."""
    anchored = isinstance(pattern, RowPattern) and pattern.nfa.looks_at_start
    return anchored or any(register.number for register in pattern.registers)
