"""The variables of found matches, for automata whose predicates are bits."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.scan.scan_spans import assign_variables, fill_only_ways
from ostinato.program.ordered_nfa import OrderedNfa
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.scan.lazy_dfa import accepting_flag

MAX_WAYS = 1 << 16  # cells of the table of only ways


class Assignment:
    """Where every row of a span allows one move only, a table gives its variable; else the best way is searched."""

    def __init__(self, nfa: OrderedNfa, masks: np.ndarray) -> None:
        self.states = len(nfa.first) - 1
        self._starts = np.array([nfa.start, nfa.start_of_partition], np.int64)
        self._first = np.array(nfa.first, np.int32)
        self._moves = np.array(nfa.moves, np.int32).reshape(-1, 2)
        self._masks = masks
        self._mask = np.uint64(np.bitwise_or.reduce(masks)) if len(masks) else np.uint64(0)
        self._accepting = np.array([accepting_flag(nfa, state) for state in range(self.states)], np.uint8)
        self._width = int(self._mask) + 1
        self._ways = np.empty(self.states * self._width if self.states * self._width <= MAX_WAYS else 0, np.int32)
        if len(self._ways):
            fill_only_ways(self._first, self._moves, masks, self._width, self._ways)

    def variables(self, rows: PatternRows, found: np.ndarray, count: int, places: np.ndarray) -> np.ndarray:
        """For the first `count` columns (key, first ordinal, ordinal behind the last) of `found`; match i has its rows from
        places[i] to places[i+1] of the result."""
        variables = np.empty(places[-1], np.uint8)
        done = room = 0
        while True:
            trail = np.empty((room, 2), np.int64)
            failed = np.empty((room, (self.states + 63) // 64), np.uint64)
            done = assign_variables(
                found, done, count, places, rows.offset, rows.base, rows.length, rows.bits, self._mask,
                self._width if len(self._ways) else 0, self._ways, self._masks, self._first, self._moves, self._accepting, self._starts,
                trail, failed, variables,
            )  # fmt: skip
            if done == count:
                return variables
            room = max(2 * room, int(found[2, done] - found[1, done]) + 2)
