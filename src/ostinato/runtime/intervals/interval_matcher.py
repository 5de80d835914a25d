"""The strategy "intervals": situations are derived row by row, and joined at the end of each moment."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ostinato.base.errors import BudgetError
from ostinato.kernels.intervals import interval_layout as layout
from ostinato.kernels.rows.key_regions import greatest
from ostinato.program.intervals import IntervalPattern
from ostinato.runtime.intervals.divided_matching import DividedMatching
from ostinato.runtime.intervals.interval_pass import IntervalPass
from ostinato.runtime.intervals.interval_plan import IntervalPlan
from ostinato.runtime.intervals.interval_state import check_intervals
from ostinato.runtime.intervals.key_stretches import KeyStretches, RowArrays
from ostinato.runtime.intervals.matching_part import TooManySteps
from ostinato.runtime.intervals.situation_store import SituationStore
from ostinato.runtime.intervals.work_division import Share, WorkDivision
from ostinato.runtime.limits.budget import Budget, Overflow
from ostinato.runtime.matcher import NEVER
from ostinato.runtime.matches.finished_intervals import FinishedIntervals
from ostinato.runtime.matches.result_size import listed
from ostinato.runtime.register_matcher import SHED_PART, RegisterMatcher
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.snapshots.state_check import StateCheck
from ostinato.runtime.workers import Workers

WAYS_OUT = "bound the pattern with WITHIN, shorten it, add conditions, or raise the budget (ost.Budget)"
OPEN_ALONE = "only situations that are open are kept, one of each definition in each partition: raise the budget (ost.Budget)"


class IntervalMatcher(RegisterMatcher):
    """A `Matcher`, but for what it finds: matches of situations have no rows. Rows that were read are needed no more."""

    _store: SituationStore

    def __init__(self, pattern: IntervalPattern, budget: Budget, strings: StringPool) -> None:
        self._pattern = pattern
        plan = IntervalPlan(pattern, budget.runs)
        super().__init__(pattern, budget, strings, plan.interpreter)
        self._ways_out = OPEN_ALONE if pattern.each else WAYS_OUT
        self._pass = IntervalPass.over(pattern, plan)
        self._store = self._pass.store
        self._division = WorkDivision(pattern)
        self._workers = Workers(1)
        self._watermark = NEVER  # before the rows of this call
        self._emitted = 0

    def share_with(self, workers: Workers) -> None:
        """See `SharesWork`. Functions of users are called by one thread."""
        self._workers = Workers(1) if self._pattern.scalar.functions else workers

    def feed(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> FinishedIntervals:
        """See `Matcher.feed`; in the order of detection."""
        parts = self._found(rows, keys, ready, watermark, final)
        return FinishedIntervals.of(listed(parts, self._pattern, self._strings, self._check_size))

    def feed_in_parts(
        self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool
    ) -> Iterator[FinishedIntervals]:
        """See `Matcher.feed_in_parts`; each in the order of detection."""
        for part in self._found(rows, keys, ready, watermark, final):
            yield FinishedIntervals.of([part])

    def _found(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> Iterator[FinishedIntervals]:
        """In any order where they are simultaneous, and of partitions."""
        keys = np.ascontiguousarray(keys, np.int64)
        self._ensure_keys(greatest(keys) + 1)
        self._bind_strings()
        ordinal, begin, end, taken_in = rows.unread(keys, ready, self._read)
        self._steps.begin(taken_in)
        self._pass.settings[layout.STEP_LIMIT] = min(int(self._store.header[layout.VISITED]) + self._steps.left, layout.OPEN)
        given = self._given(keys, begin, end, layout.OPEN if final else watermark)
        for stretches in self._division.sampled(given, taken_in) if self._workers.most > 1 else (given,):
            yield from self._matched(RowArrays.of(rows), stretches)
        self._read[keys] = np.maximum(ordinal, ready)
        self._watermark = max(self._watermark, watermark)
        self._settle()

    def _given(self, keys: np.ndarray, begin: np.ndarray, end: np.ndarray, complete: int) -> KeyStretches:
        """The rows of these keys, and none of other keys with a moment that is over, too."""
        others = self._store.undecided_elsewhere(keys, complete)
        none = np.zeros_like(others)
        begin, end = np.concatenate([begin, none]), np.concatenate([end, none])
        return KeyStretches(np.concatenate([keys, others]), begin, end, np.full(len(begin), complete))

    def _matched(self, rows: RowArrays, given: KeyStretches) -> Iterator[FinishedIntervals]:
        """By one thread, or divided among several."""
        found, before = 0, self._store.header.copy()
        shares = self._shares(given)
        for part in self._alone(rows, given) if not shares else self._divided(rows, given, shares):
            self._emitted += len(part)
            found += len(part)
            yield part
        if self._workers.most > 1:
            made, visited, searches = (self._store.header - before)[[layout.MADE, layout.VISITED, layout.SEARCHES]].tolist()
            self._division.took({"rows": given.rows, "made": made, "visited": visited, "searches": searches, "results": found})

    def _shares(self, given: KeyStretches) -> list[Share]:
        """None, where one thread does it: also where a limit may be met, which counts what is kept in one order of the keys."""
        most, live = self._workers.most, self._store.live
        if most == 1 or not len(given):
            return []
        kept = live + self._division.most_made(given)
        runs, size = self._budget.runs, self._budget.bytes
        if (runs is not None and kept > runs) or (size is not None and kept * self._store.situation_bytes > size):
            return []
        return self._division.shares(given, live, most)

    def _divided(self, rows: RowArrays, given: KeyStretches, shares: list[Share]) -> Iterator[FinishedIntervals]:
        divided = DividedMatching(self._pass, given, shares)
        try:
            yield from divided.run(rows, self._workers)
        except TooManySteps:
            raise self._too_many_steps(divided.kept) from None
        divided.put_together()
        self._division.parts += len(divided.parts)
        yield self._store.taken()  # nothing

    def _alone(self, rows: RowArrays, given: KeyStretches) -> Iterator[FinishedIntervals]:
        levels = np.empty((len(given), layout.LEVELS), np.int64)
        self._pass.begin()
        while (status := self._pass.advance(rows, given, levels)) != layout.DONE:
            if status != layout.FULL:
                self._help(status)
            elif not self._store.finds_more():
                yield self._store.taken()
        yield self._store.taken()

    def _help(self, status: int) -> None:
        """The kernel stopped before it was through."""
        store = self._store
        if status == layout.OVER_LIMIT:
            self._over_limit()
        elif status == layout.OVER_STEPS:
            raise self._too_many_steps(store.live)
        else:
            self._pass.help(status)
        if status == layout.TOO_SMALL and self._budget.overflow is Overflow.ERROR:
            self._check_size(store.bytes, f"{store.live:,} situations take")

    def _too_many_steps(self, kept: int) -> BudgetError:
        return self._steps.exceeded(f"{kept:,} situations are kept, and it takes too long to combine them")

    def _over_limit(self) -> None:
        """Of situations: those that are in no later match go first."""
        store, limit = self._store, self._budget.runs or 0
        store.sweep(self._watermark)
        if store.live <= limit:
            return
        if self._budget.overflow is not Overflow.ERROR:
            store.shed_oldest(store.live - limit + limit // SHED_PART)
        if store.live > limit:
            raise self._over_budget(f"more than {limit} situations are kept")

    def _settle(self) -> None:
        """After the rows of a call: let go of what is over, and shed what is too much."""
        store, limit = self._store, self._budget.bytes
        if limit is None or store.bytes <= limit:
            return
        store.sweep(self._watermark)
        if self._budget.overflow is not Overflow.ERROR and store.bytes > limit:
            store.shed_oldest((store.bytes - limit) // store.situation_bytes + 1 + store.live // SHED_PART)
        self._check_size(store.bytes, f"{store.live:,} situations take")

    def metrics(self) -> dict[str, int]:
        store = self._store
        return {
            "matches": self._emitted,
            "situations": store.live,
            "peak_situations": int(store.header[layout.PEAK]),
            "purged_situations": int(store.header[layout.PURGED]),
            "shed_situations": store.shed,
            "situations_made": int(store.header[layout.MADE]),
            "partnerless_situations": int(store.header[layout.PARTNERLESS]),
            "visited_situations": int(store.header[layout.VISITED]),
            "searches": int(store.header[layout.SEARCHES]),
            "order_changes": self._pass.orders.changes,
            "matched_parts": self._division.parts,
            "situation_bytes": store.situation_bytes,
            "state_bytes": store.bytes,
        }

    def state(self) -> dict[str, np.ndarray]:
        return {**super().state(), **self._pass.orders.state()}

    def check(self, state: StateCheck) -> None:
        check_intervals(state, self._pattern)
        self._pass.orders.check(state)

    def load(self, state: dict[str, np.ndarray]) -> None:
        super().load(state)
        self._pass.orders.load(state)
