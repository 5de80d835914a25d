"""Partial matches of row patterns that their window ended: where no match starts, but the pattern had read all rows of the window.

A start is asked when the search has passed it. The rows of its window are then a little partition of their own, and the pattern is asked
for the best way to read all of them: each state of its automaton accepts, at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ostinato.kernels.negation.window_ends import window_ends
from ostinato.kernels.rows.grouping import ranges
from ostinato.kernels.rows.row_gaps import find_gaps
from ostinato.program.ordered_nfa import ACCEPT, ACCEPT_AT_END, OrderedNfa
from ostinato.program.pattern import RowPattern
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.scan.scan_matcher import variable_masks
from ostinato.runtime.strategies import open_matcher

ROWS_AT_ONCE = 1 << 20


class Timeouts:
    """`passed` is, per key, the ordinal up to which starts have been asked, or were passed over behind a match."""

    def __init__(self, pattern: RowPattern, budget: Budget, pool: StringPool) -> None:
        assert pattern.nfa is not None
        self._pattern = pattern
        beginnings = replace(pattern, nfa=_beginnings(pattern.nfa), skip="past last row", within=-1, timeouts=False)
        self._matcher = open_matcher(beginnings, budget, pool)
        first = {variable for variable, _ in pattern.nfa.transitions_of(pattern.nfa.start) if variable >= 0}
        self._masks = [mask for number, mask in enumerate(variable_masks(pattern.tests)) if number in first]
        self.passed = np.zeros(0, np.int64)
        self.count = 0

    def found(self, matches: Matches, keys: np.ndarray, searched: np.ndarray, ready: np.ndarray, rows: PatternRows) -> Iterator[Matches]:
        """`matches` are those that the search has found on its way to `searched`; rows before `ready` are there."""
        key, start = self._starts(matches, keys, searched, rows)
        behind = self._window_ends(key, start, keys, ready, rows)
        ends = np.cumsum(behind - start)
        begin = 0
        while begin < len(key):
            end = max(begin + 1, int(np.searchsorted(ends, ends[begin] + ROWS_AT_ONCE)))
            one = slice(begin, end)
            ended = self._ended(key[one], start[one], behind[one], rows)
            self.count += len(ended)
            yield ended
            begin = end

    def _starts(self, matches: Matches, keys: np.ndarray, searched: np.ndarray, rows: PatternRows) -> tuple[np.ndarray, np.ndarray]:
        """Where attempts have been made that came to nothing, of those that a first row allows."""
        self.passed = grown(self.passed, rows.key_count)
        taken = np.diff(matches.offsets) if self._pattern.skip == "past last row" else np.ones(len(matches), np.int64)
        gaps = np.empty((len(matches) + len(keys), 3), np.int64)
        count = find_gaps(
            np.ascontiguousarray(matches.key), np.ascontiguousarray(matches.start), matches.start + np.maximum(taken, 1),
            np.ascontiguousarray(keys, np.int64), np.ascontiguousarray(searched, np.int64), self.passed, gaps,
        )  # fmt: skip
        of, first, end = gaps[:count].T
        start, key = ranges(first, end - first), np.repeat(of, end - first)
        bits = rows.bits[rows.index_of(key, start)]
        allowed = np.zeros(len(key), np.bool_)
        for mask in self._masks:
            allowed |= bits & mask == mask
        return key[allowed], start[allowed]

    def _window_ends(self, key: np.ndarray, start: np.ndarray, keys: np.ndarray, ready: np.ndarray, rows: PatternRows) -> np.ndarray:
        """The ordinal behind the last row of the window of each start."""
        pattern = self._pattern
        by_events = pattern.within_unit == "events"
        limit = start + pattern.within - 1 if by_events else rows.times[rows.index_of(key, start)] + pattern.within
        known = np.zeros(rows.key_count, np.int64)
        known[keys] = ready
        behind, settled = np.empty(len(key), np.int64), np.empty(len(key), np.bool_)
        window_ends(key, start, limit, by_events, known, 0, rows.offset, rows.base, rows.length, rows.times, behind, settled)
        return behind

    def _ended(self, key: np.ndarray, start: np.ndarray, behind: np.ndarray, rows: PatternRows) -> Matches:
        windows = rows.windows(rows.index_of(key, start), behind - start)
        self._matcher.renumber(np.empty(0, np.int64))  # nothing is left of the last ones
        read = self._matcher.feed(windows, np.arange(len(key)), behind - start, 0, True)
        assert isinstance(read, Matches)
        return Matches(key[read.key], start[read.key], read.offsets, read.variables, read.ordinals)

    def renumber(self, old_of_new: np.ndarray) -> None:
        self.passed = grown(self.passed, int(old_of_new.max(initial=-1)) + 1)[old_of_new]


def _beginnings(nfa: OrderedNfa) -> OrderedNfa:
    """Accepts what the automaton has read at the end of a partition, wherever it is then; attempts begin at the first row only."""
    first, transitions = [0], []
    for state in range(len(nfa.first) - 1):
        transitions += [transition for transition in nfa.transitions_of(state) if transition not in (ACCEPT, ACCEPT_AT_END)]
        transitions.append(ACCEPT_AT_END)
        first.append(len(transitions))
    return OrderedNfa((*first, len(transitions)), tuple(transitions), start=len(first) - 1, start_of_partition=nfa.start)
