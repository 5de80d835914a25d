"""The strategy "intervals": situations are derived row by row, and joined at the end of each moment."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ostinato.base.errors import DataError, OstinatoError
from ostinato.kernels.intervals import interval_layout as layout
from ostinato.kernels.intervals import intervals as kernel
from ostinato.kernels.rows.key_regions import greatest
from ostinato.program.intervals import IntervalPattern
from ostinato.runtime.intervals.interval_plan import IntervalPlan
from ostinato.runtime.intervals.interval_state import check_intervals
from ostinato.runtime.intervals.search_orders import SearchOrders
from ostinato.runtime.intervals.situation_store import SituationStore
from ostinato.runtime.limits.budget import Budget, Overflow
from ostinato.runtime.matcher import NEVER
from ostinato.runtime.matches.finished_intervals import FinishedIntervals
from ostinato.runtime.matches.result_size import listed
from ostinato.runtime.register_matcher import SHED_PART, RegisterMatcher
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.snapshots.state_check import StateCheck

WAYS_OUT = "bound the pattern with WITHIN, shorten it, add conditions, or raise the budget (ost.Budget)"
OPEN_ALONE = "only situations that are open are kept, one of each definition in each partition: raise the budget (ost.Budget)"


class IntervalMatcher(RegisterMatcher):
    """A `Matcher`, but for what it finds: matches of situations have no rows. Rows that were read are needed no more."""

    _store: SituationStore

    def __init__(self, pattern: IntervalPattern, budget: Budget, strings: StringPool) -> None:
        self._pattern = pattern
        self._plan = IntervalPlan(pattern, budget.runs)
        super().__init__(pattern, budget, strings, self._plan.interpreter)
        self._ways_out = OPEN_ALONE if pattern.each else WAYS_OUT
        self._orders = SearchOrders(pattern, self._plan.settings)
        self._store = SituationStore(pattern)
        self._watermark = NEVER  # before the rows of this call
        self._emitted = 0

    def feed(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> FinishedIntervals:
        """See `Matcher.feed`; in the order of detection."""
        parts = self.feed_in_parts(rows, keys, ready, watermark, final)
        return FinishedIntervals.of(listed(parts, self._pattern, self._strings, self._check_size))

    def feed_in_parts(
        self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool
    ) -> Iterator[FinishedIntervals]:
        """See `Matcher.feed_in_parts`."""
        keys = np.ascontiguousarray(keys, np.int64)
        self._ensure_keys(greatest(keys) + 1)
        self._bind_strings()
        ordinal, begin, end, taken_in = rows.unread(keys, ready, self._read)
        complete = layout.OPEN if final else watermark
        others = self._store.undecided_elsewhere(keys, complete)
        none = np.zeros_like(others)
        given = np.concatenate([keys, others]), np.concatenate([begin, none]), np.concatenate([end, none])
        self._steps.begin(taken_in)
        header = self._store.header
        self._plan.settings[layout.STEP_LIMIT] = min(int(header[layout.VISITED]) + self._steps.left, layout.OPEN)
        header[[layout.AT_KEY, layout.AT_ROW]] = 0, layout.NOTHING
        while (status := self._advance(rows, *given, complete)) != layout.DONE:
            if status != layout.FULL:
                self._help(status)
            elif not self._store.finds_more():
                yield self._taken()
        self._read[keys] = np.maximum(ordinal, ready)
        self._watermark = max(self._watermark, watermark)
        yield self._taken()
        self._settle()

    def _advance(self, rows: PatternRows, keys: np.ndarray, begin: np.ndarray, end: np.ndarray, complete: int) -> int:
        plan, orders, store, code = self._plan, self._orders, self._store, self._interpreter
        status: int = kernel.advance(
            plan.definitions, plan.constraints, plan.bounds, orders.orders, orders.ranks_of, orders.last_related, plan.owners,
            plan.settings, code.code, code.scratch, code.scratch_valid, code.ranks, rows.bits.view(np.int64), rows.times, rows.slots,
            rows.slot_valid, store.situations, store.registers, store.register_valid, store.regions, store.per_key, store.places,
            store.ranges, orders.looked, orders.averages, store.header, store.found, store.found_registers, store.found_valid, keys, begin,
            end, complete,
        )  # fmt: skip
        return status

    def _help(self, status: int) -> None:
        """The kernel stopped before it was through."""
        store = self._store
        if status == layout.TOO_SMALL:
            store.make_room()
            if self._budget.overflow is Overflow.ERROR:
                self._check_size(store.bytes, f"{store.live:,} situations take")
        elif status == layout.DRIFTED:
            self._orders.choose()
        elif status == layout.OVER_LIMIT:
            self._over_limit()
        elif status == layout.OVER_STEPS:
            raise self._steps.exceeded(f"{store.live:,} situations are kept, and it takes too long to combine them")
        else:
            raise self._failed(int(store.header[layout.ERROR]))

    def _failed(self, error: int) -> OstinatoError:
        if error == layout.BAD_START:
            message = f"a row of {self._pattern.reads.stream} has no start, or one behind its end or too far back"
            return DataError(message, hint="leave such rows out before")
        return self._interpreter.error(error)

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

    def _taken(self) -> FinishedIntervals:
        found = self._store.taken()
        self._emitted += len(found)
        return found

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
            "order_changes": self._orders.changes,
            "situation_bytes": store.situation_bytes,
            "state_bytes": store.bytes,
        }

    def state(self) -> dict[str, np.ndarray]:
        return {**super().state(), **self._orders.state()}

    def check(self, state: StateCheck) -> None:
        check_intervals(state, self._pattern)
        self._orders.check(state)

    def load(self, state: dict[str, np.ndarray]) -> None:
        super().load(state)
        self._orders.load(state)
