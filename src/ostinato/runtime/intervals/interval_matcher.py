"""The strategy "intervals": situations are derived row by row, and joined at the end of each moment."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ostinato.base.errors import DataError, OstinatoError
from ostinato.expr.types import Kind
from ostinato.kernels.intervals import interval_layout as layout
from ostinato.kernels.intervals import intervals as kernel
from ostinato.kernels.rows.key_regions import greatest
from ostinato.kernels.scalar.arithmetic import IS_VALUE
from ostinato.program.intervals import IntervalPattern
from ostinato.runtime.intervals.interval_plan import IntervalPlan
from ostinato.runtime.intervals.interval_state import check_intervals
from ostinato.runtime.intervals.situation_store import SituationStore
from ostinato.runtime.limits.budget import Budget, Overflow, in_words, over_budget
from ostinato.runtime.limits.steps import Steps
from ostinato.runtime.matcher import NEVER
from ostinato.runtime.matches.finished_intervals import FinishedIntervals
from ostinato.runtime.matches.result_size import result_bytes
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.snapshots.state_check import StateCheck

SHED_PART = 16  # shedding a sixteenth at once keeps its cost per event constant
WAYS_OUT = "bound the pattern with WITHIN, shorten it, add conditions, or raise the budget (ost.Budget)"


class IntervalMatcher:
    """A `Matcher`, but for what it finds: matches of situations have no rows. Rows that were read are needed no more."""

    def __init__(self, pattern: IntervalPattern, budget: Budget, strings: StringPool) -> None:
        self._pattern = pattern
        self._budget = budget
        self._strings = strings
        self._plan = IntervalPlan(pattern, budget.runs)
        self._store = SituationStore(pattern)
        self._steps = Steps(pattern, budget)
        self._read = np.zeros(0, np.int64)  # per key, the next unread ordinal
        self._watermark = NEVER  # before the rows of this call
        self._emitted = 0

    def feed(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> FinishedIntervals:
        """See `Matcher.feed`; in the order of detection."""
        found, size = [], 0
        for part in self.feed_in_parts(rows, keys, ready, watermark, final):
            found.append(part)
            size += result_bytes(part, self._pattern, self._strings)
            self._check_size(size, f"listing {sum(map(len, found)):,} results takes about")
        return FinishedIntervals.of(found)

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
        plan, store, code = self._plan, self._store, self._plan.interpreter
        status: int = kernel.advance(
            plan.definitions, plan.constraints, plan.bounds, plan.orders, plan.ranks_of, plan.owners, plan.settings, code.code,
            code.scratch, code.scratch_valid, code.ranks, rows.bits.view(np.int64), rows.times, rows.slots, rows.slot_valid,
            store.situations, store.registers, store.register_valid, store.regions, store.per_key, store.places, store.header, store.found,
            store.found_registers, store.found_valid, keys, begin, end, complete,
        )  # fmt: skip
        return status

    def _help(self, status: int) -> None:
        """The kernel stopped before it was through."""
        store = self._store
        if status == layout.TOO_SMALL:
            store.make_room()
            if self._budget.overflow is Overflow.ERROR:
                self._check_size(store.bytes, f"{store.live:,} situations take")
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
        return self._plan.interpreter.error(error)

    def _over_limit(self) -> None:
        """Of situations: those that are in no later match go first."""
        store, limit = self._store, self._budget.runs or 0
        store.sweep(self._watermark)
        if store.live <= limit:
            return
        if self._budget.overflow is not Overflow.ERROR:
            store.shed_oldest(store.live - limit + limit // SHED_PART)
        if store.live > limit:
            raise over_budget(self._pattern, f"more than {limit} situations are kept", WAYS_OUT)

    def _check_size(self, size: int, what: str) -> None:
        limit = self._budget.bytes
        if limit is not None and size > limit:
            raise over_budget(self._pattern, f"{what} {in_words(size)}, and the budget is {in_words(limit)}", WAYS_OUT)

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

    def _bind_strings(self) -> None:
        """Codes are asked for again each time: a session that is restored has other ones than it had when it was made."""
        code = self._plan.interpreter
        if code.strings or code.ranked:
            code.bind(self._strings.codes(code.strings), self._strings.ranks() if code.ranked else None)

    def _ensure_keys(self, count: int) -> None:
        self._store.ensure_keys(count)
        self._read = grown(self._read, self._store.key_count)

    def keep_from(self, keys: np.ndarray) -> np.ndarray:
        self._ensure_keys(greatest(keys) + 1)
        return self._read[keys]

    def idle(self, keys: np.ndarray) -> np.ndarray:
        self._ensure_keys(greatest(keys) + 1)
        return ~self._store.busy[keys]

    def renumber(self, old_of_new: np.ndarray) -> None:
        self._ensure_keys(int(np.max(old_of_new, initial=-1)) + 1)
        self._store.renumber(old_of_new)
        self._read = self._read[old_of_new]

    def codes(self) -> list[np.ndarray]:
        """The codes of strings that situations remember."""
        return [self._store.registers[places, register] for register, places in self._texts()]

    def recode(self, new_of_old: np.ndarray) -> None:
        for register, places in self._texts():
            self._store.registers[places, register] = new_of_old[self._store.registers[places, register]]

    def _texts(self) -> list[tuple[int, np.ndarray]]:
        """Registers that hold strings, with the places of the situations in which they have a value."""
        texts = [i for i, register in enumerate(self._pattern.registers) if register.type.kind is Kind.STRING]
        kept = self._store.kept if texts else np.empty(0, np.int64)
        return [(register, kept[self._store.register_valid[kept, register] == IS_VALUE]) for register in texts]

    def metrics(self) -> dict[str, int]:
        store = self._store
        return {
            "matches": self._emitted,
            "situations": store.live,
            "peak_situations": int(store.header[layout.PEAK]),
            "purged_situations": int(store.header[layout.PURGED]),
            "shed_situations": store.shed,
            "situations_made": int(store.header[layout.MADE]),
            "visited_situations": int(store.header[layout.VISITED]),
            "situation_bytes": store.situation_bytes,
            "state_bytes": store.bytes,
        }

    def state(self) -> dict[str, np.ndarray]:
        self._ensure_keys(0)
        return {**self._store.state(), "read": self._read}

    def check(self, state: StateCheck) -> None:
        check_intervals(state, self._pattern)

    def load(self, state: dict[str, np.ndarray]) -> None:
        self._store.load(state)
        self._read = state["read"].copy()
