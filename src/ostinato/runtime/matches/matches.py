"""What a matcher reports: matches as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ostinato.kernels.output.match_copy import copy_matches
from ostinato.kernels.output.match_runs import spread_runs
from ostinato.runtime.rows.pattern_rows import PatternRows


@dataclass(frozen=True)
class MatchRuns:
    """The variables of matches as runs of rows, see `kernels.output.match_runs`; those of match i end at `ends[i]`."""

    runs: np.ndarray  # uint16[r]
    ends: np.ndarray  # int64[m]


@dataclass(frozen=True)
class Stretches:
    """The variables of matches as one stretch of rows each, see `kernels.output.match_stretches`; `order` are their numbers."""

    ends: np.ndarray  # int32[v, m]
    order: np.ndarray  # uint8[v]

    def counts(self, belongs: np.ndarray) -> np.ndarray:
        """Per match how many rows it has of the variables with a flag."""
        found = np.zeros(self.ends.shape[1], np.int64)
        for place in np.flatnonzero(belongs[self.order]):
            found += self.ends[place] if place == 0 else self.ends[place] - self.ends[place - 1]
        return found


class VariablesLater(Protocol):
    """The variables of matches that are not known before somebody asks: many measures need the edges of a match alone."""

    def of_rows(self) -> np.ndarray: ...

    def stretches(self) -> Stretches | None:
        """None if variables have no stretches."""


class Matches:
    """Match i belongs to partition `key[i]` and maps the rows `ordinals[offsets[i]:offsets[i+1]]` (positions within the partition,
    counted from its first row ever) to the variables `variables[...]` (numbers in the program's variable list), in row order.
    `ordinals` None: the rows are contiguous from `start[i]`. An empty match has no rows; `start[i]` is where it starts. `runs`: the
    variables are known as runs. They are written out, or found at all, when somebody asks for them."""

    def __init__(
        self,
        key: np.ndarray,  # int64[m]
        start: np.ndarray,  # int64[m]
        offsets: np.ndarray,  # int64[m + 1]
        variables: np.ndarray | MatchRuns | VariablesLater,  # uint8[total]
        ordinals: np.ndarray | None = None,  # int64[total]
    ) -> None:
        self.key = key
        self.start = start
        self.offsets = offsets
        self.runs = variables if isinstance(variables, MatchRuns) else None
        self._given = variables
        self.ordinals = ordinals

    @property
    def row_count(self) -> int:
        return int(self.offsets[-1])

    @cached_property
    def variables(self) -> np.ndarray:
        if isinstance(self._given, np.ndarray):
            return self._given
        if not isinstance(self._given, MatchRuns):
            return self._given.of_rows()
        spread = np.empty(self.row_count, np.uint8)
        spread_runs(self._given.ends, self._given.runs, spread)
        return spread

    @cached_property
    def stretches(self) -> Stretches | None:
        """The variables as stretches, where they have some."""
        return None if isinstance(self._given, np.ndarray | MatchRuns) else self._given.stretches()

    def __len__(self) -> int:
        return len(self.key)

    @staticmethod
    def none() -> Matches:
        return _NONE

    @property
    def listed(self) -> np.ndarray:
        """The ordinals, of event patterns: their matches always have them."""
        assert self.ordinals is not None
        return self.ordinals

    @property
    def last(self) -> np.ndarray:
        """The ordinal of the last row of each match of an event pattern."""
        return self.listed[self.offsets[1:] - 1]

    def take(self, chosen: np.ndarray) -> Matches:
        """These matches in this order; `chosen` are numbers or flags."""
        if chosen.dtype == np.bool_:
            chosen = np.flatnonzero(chosen)
        chosen = np.ascontiguousarray(chosen, np.int64)
        offsets = np.concatenate([[0], np.cumsum(self.offsets[chosen + 1] - self.offsets[chosen])])
        variables = np.empty(offsets[-1], np.uint8)
        ordinals = np.empty(0 if self.ordinals is None else offsets[-1], np.int64)
        listed = ordinals[:0] if self.ordinals is None else np.ascontiguousarray(self.ordinals)
        copy_matches(self.offsets, np.ascontiguousarray(self.variables), listed, chosen, offsets, variables, ordinals)
        return Matches(self.key[chosen], self.start[chosen], offsets, variables, None if self.ordinals is None else ordinals)

    def part(self, begin: int, behind: int) -> Matches:
        """Those from `begin` on and before `behind`, where the rows of all are listed; nothing is copied but where they begin."""
        first, last = int(self.offsets[begin]), int(self.offsets[behind])
        offsets = self.offsets[begin : behind + 1] - first
        return Matches(self.key[begin:behind], self.start[begin:behind], offsets, self.variables[first:last], self.listed[first:last])

    def followed_by(self, other: Matches) -> Matches:
        """Both, where the rows of both are listed."""
        if not len(self) or not len(other):
            return other if not len(self) else self
        return Matches(
            np.concatenate([self.key, other.key]),
            np.concatenate([self.start, other.start]),
            np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]]),
            np.concatenate([self.variables, other.variables]),
            np.concatenate([self.listed, other.listed]),
        )


_NOTHING = np.empty(0, np.int64)
_NONE = Matches(_NOTHING, _NOTHING, np.zeros(1, np.int64), np.empty(0, np.uint8), _NOTHING)


def completed(rows: PatternRows, matches: Matches) -> np.ndarray:
    """The position in the stream of the last row of each match of an event pattern."""
    return rows.positions[rows.index_of(matches.key, matches.last)]
