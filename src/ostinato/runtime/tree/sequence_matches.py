"""Matches of a nested pattern that is a sequence of events, as `compact` finds them. All that it holds follows from the rows of the window,
and is made anew where it is lost: it is no part of a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ostinato.program.pattern import EventPattern
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.matcher import NEVER, Matcher
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.strategies import open_alone


class SequenceMatches:
    """`read` is, where it is asked for, how many rows of each key were offered before."""

    def __init__(self, pattern: EventPattern, budget: Budget, pool: StringPool) -> None:
        self._pattern = pattern
        self._budget = budget
        self._pool = pool
        self.forget()

    def forget(self) -> None:
        """Everything is read again when it is needed."""
        self._matcher: Matcher | None = None
        self._told = np.zeros(0, np.bool_)  # per key, whether the matcher has read what was offered before

    @property
    def bytes(self) -> int:
        return 0 if self._matcher is None else self._matcher.metrics()["state_bytes"]

    def feed(
        self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, read: np.ndarray, watermark: int, final: bool, in_parts: bool
    ) -> Iterator[Matches]:
        """What the rows up to `ready` complete: piece by piece, or all of it, if the budget has room for that."""
        matcher = self._told_of(rows, keys, read)
        given = rows, keys, ready, watermark, final
        for found in matcher.feed_in_parts(*given) if in_parts else (matcher.feed(*given),):
            assert isinstance(found, Matches)  # nothing is compressed
            yield found

    def count(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, read: np.ndarray, watermark: int, final: bool) -> int:
        """How many matches they complete."""
        matcher = self._told_of(rows, keys, read)
        before = matcher.metrics()["matches"]
        matcher.feed(rows, keys, ready, watermark, final)
        return matcher.metrics()["matches"] - before

    def renumber(self, old_of_new: np.ndarray) -> None:
        if self._matcher is not None:
            self._matcher.renumber(old_of_new)
            self._told = grown(self._told, int(old_of_new.max(initial=-1)) + 1)[old_of_new]

    def _told_of(self, rows: PatternRows, keys: np.ndarray, read: np.ndarray) -> Matcher:
        """The matcher, when it knows the rows that were offered before: what they completed was reported then."""
        if self._matcher is None:
            self._matcher = open_alone(self._pattern, self._budget, self._pool)
        matcher: Any = self._matcher
        self._told = grown(self._told, int(keys.max(initial=-1)) + 1)
        new = keys[~self._told[keys]]
        self._told[new] = True
        behind = new[rows.base[new] > 0]
        if len(behind):
            matcher.pass_over(behind, rows.base[behind])
        offered = new[read[new] > rows.base[new]]
        for _ in matcher.feed_in_parts(rows, offered, read[offered], NEVER, False) if len(offered) else ():
            pass
        return self._matcher
