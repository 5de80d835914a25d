"""Rows that the search has passed and that are part of no match."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.rows.grouping import ranges
from ostinato.kernels.rows.row_gaps import find_gaps
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.rows.pattern_rows import PatternRows


class UnmatchedRows:
    """`passed` is, per key, the ordinal up to which rows are covered by matches or were found to be in none."""

    def __init__(self) -> None:
        self.passed = np.zeros(0, np.int64)

    def found(self, matches: Matches, keys: np.ndarray, searched: np.ndarray, rows: PatternRows) -> np.ndarray:
        """The arena rows that are known now to be part of no match. `searched`: before this row of its key no match will start any more.
        A match without rows stands for the row at which it starts."""
        if len(self.passed) < rows.key_count:
            self.passed = np.concatenate([self.passed, np.zeros(rows.key_count - len(self.passed), np.int64)])
        behind = matches.start + np.maximum(np.diff(matches.offsets), 1)
        gaps = np.empty((len(matches) + len(keys), 3), np.int64)
        count = find_gaps(
            np.ascontiguousarray(matches.key), np.ascontiguousarray(matches.start), behind, np.ascontiguousarray(keys, np.int64),
            np.ascontiguousarray(searched, np.int64), self.passed, gaps,
        )  # fmt: skip
        key, first, end = gaps[:count].T
        return ranges(rows.index_of(key, first), end - first)

    def renumber(self, old_of_new: np.ndarray) -> None:
        known = np.zeros(max(len(self.passed), int(old_of_new.max(initial=-1)) + 1), np.int64)
        known[: len(self.passed)] = self.passed
        self.passed = known[old_of_new]
