"""Matches that were found: those that wait for what comes behind them, and those that are decided and wait for their place in the order."""

from __future__ import annotations

import numpy as np

from ostinato.program.tree import TreePattern
from ostinato.runtime.limits.budget import Budget, in_words, over_budget
from ostinato.runtime.matcher import NEVER
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.snapshots.snapshot import part_of

NO_NUMBERS = np.zeros(0, np.int64)
FAR = np.iinfo(np.int64).max
PARTS = ("key", "start", "offsets", "variables", "ordinals")


class DecidedMatches:
    """`waiting` matches have their window's last time in `limits` and their branch in `branches`; `ends` are the last times of both kinds.
    `in_order`: what is decided is held back until everything that ends before it is."""

    def __init__(self, pattern: TreePattern, in_order: bool) -> None:
        self._pattern = pattern
        self._late = np.array([any(negation.trails for negation in branch.negations) for branch in pattern.branches], np.bool_)
        self.holds_back = in_order
        self.waiting = self._held = Matches.none()
        self.branches = self.limits = self._waiting_ends = self._held_ends = NO_NUMBERS

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for array in self.state().values())

    def add(self, rows: PatternRows, matches: Matches, branches: np.ndarray) -> None:
        late = self._late[branches]
        if late.any():
            waits = matches.take(late)
            self.waiting = self.waiting.followed_by(waits)
            self.branches = np.concatenate([self.branches, branches[late]])
            starts = rows.times[rows.index_of(waits.key, waits.start)]
            self.limits = np.concatenate([self.limits, starts + self._pattern.within])
            self._waiting_ends = np.concatenate([self._waiting_ends, rows.times[rows.index_of(waits.key, waits.last)]])
            matches = matches.take(~late)
        self._hold(rows, matches)

    def _hold(self, rows: PatternRows, matches: Matches) -> None:
        if len(matches):
            self._held = self._held.followed_by(matches)
            self._held_ends = np.concatenate([self._held_ends, rows.times[rows.index_of(matches.key, matches.last)]])

    def due(self, keys: np.ndarray, known: int, watermark: int, final: bool) -> np.ndarray:
        """The waiting matches of these keys behind which nothing can come any more."""
        if not len(self.waiting):
            return NO_NUMBERS
        touched = np.zeros(known, np.bool_)
        touched[keys] = True
        return np.flatnonzero(touched[self.waiting.key] & ((self.limits < watermark) | final))

    def settle(self, due: np.ndarray, confirmed: np.ndarray) -> None:
        """Of those that were due, the `confirmed` are matches."""
        kept = np.ones(len(self.waiting), np.bool_)
        kept[due] = False
        if len(confirmed):
            self._held = self._held.followed_by(self.waiting.take(confirmed))
            self._held_ends = np.concatenate([self._held_ends, self._waiting_ends[confirmed]])
        self.waiting = self.waiting.take(kept)
        self.branches, self.limits, self._waiting_ends = self.branches[kept], self.limits[kept], self._waiting_ends[kept]

    def release(self, rows: PatternRows, watermark: int, final: bool) -> Matches:
        """What may be reported now."""
        if not len(self._held):
            return Matches.none()
        if not self.holds_back or (final and not len(self.waiting)):
            released, self._held, self._held_ends = self._held, Matches.none(), NO_NUMBERS
            return released
        before = FAR if final else watermark
        before = min(before, int(self._waiting_ends.min(initial=FAR))) if before != NEVER else NEVER
        due = self._held_ends < before
        if not due.any():
            return Matches.none()
        released = self._held.take(due)
        self._held, self._held_ends = self._held.take(~due), self._held_ends[~due]
        return released

    def within_budget(self, budget: Budget) -> None:
        held = len(self.waiting) + len(self._held)
        limit, room = budget.runs, budget.bytes
        if (limit is not None and len(self.waiting) > limit) or (room is not None and held and self.bytes > room):
            raise over_budget(
                self._pattern, f"{held:,} matches wait, in {in_words(self.bytes)}", "shorten WITHIN, or raise the budget's runs and bytes"
            )

    def earliest(self, keys: np.ndarray, known: int) -> np.ndarray:
        """Per key the first row of its matches here, a large number where it has none."""
        if not len(self.waiting) and not len(self._held):
            return np.full(len(keys), FAR)  # there may be many keys
        first = np.full(known, FAR)
        for matches in (self.waiting, self._held):
            np.minimum.at(first, matches.key, matches.start)
        return first[keys]

    def renumber(self, new_of_old: np.ndarray) -> None:
        for matches in (self.waiting, self._held):
            if len(matches):
                matches.key = new_of_old[matches.key]

    def state(self) -> dict[str, np.ndarray]:
        numbers = {"branches": self.branches, "limits": self.limits, "waiting_ends": self._waiting_ends, "held_ends": self._held_ends}
        for prefix, m in (("waiting.", self.waiting), ("held.", self._held)):
            numbers |= {prefix + name: array for name, array in zip(PARTS, (m.key, m.start, m.offsets, m.variables, m.listed), strict=True)}
        return numbers

    def load(self, state: dict[str, np.ndarray]) -> None:
        self.branches, self.limits = state["branches"], state["limits"]
        self._waiting_ends, self._held_ends = state["waiting_ends"], state["held_ends"]
        waiting, held = part_of(state, "waiting."), part_of(state, "held.")
        self.waiting, self._held = Matches(*(waiting[name] for name in PARTS)), Matches(*(held[name] for name in PARTS))
