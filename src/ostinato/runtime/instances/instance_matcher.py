"""The strategy "instances": what events have begun waits in the states of an automaton for the next ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ostinato.base.errors import DataError, OstinatoError
from ostinato.expr.types import Kind
from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.kernels.instances import instance_layout as layout
from ostinato.kernels.instances import instance_table as table
from ostinato.kernels.instances import instances as kernel
from ostinato.kernels.rows.key_regions import greatest
from ostinato.kernels.scalar.arithmetic import IS_VALUE
from ostinato.kernels.vectors.column_calls import CalledColumns, error_of
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.scalar_code import ColumnCall
from ostinato.runtime.instances.begun_before import BegunBefore
from ostinato.runtime.instances.instance_plan import InstancePlan
from ostinato.runtime.instances.instance_state import check_instances
from ostinato.runtime.instances.instance_store import InstanceStore
from ostinato.runtime.limits.budget import Budget, Overflow
from ostinato.runtime.matcher import NEVER, Places
from ostinato.runtime.matches.finished_instances import FinishedInstances, put_together
from ostinato.runtime.matches.result_size import listed
from ostinato.runtime.register_matcher import SHED_LATER, SHED_PART, RegisterMatcher
from ostinato.runtime.rows.opaque_values import OpaqueValues
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.snapshots.state_check import StateCheck

WAYS_OUT = "bound how long events last, FILTER {DUR < ...} around them, add conditions, or raise the budget (ost.Budget)"


class InstanceMatcher(RegisterMatcher):
    """A `Matcher`, but for what it finds: instances that have come to their end have no rows. Rows that were read are needed no more."""

    _store: InstanceStore
    _ways_out = WAYS_OUT

    def __init__(self, automaton: InstanceAutomaton, budget: Budget, strings: StringPool, goes_on: bool = False) -> None:
        self.automaton = automaton
        self._strings = strings  # columns that scalar code calls are made with them
        self._calls: list[CalledColumns] = []
        self._plan = InstancePlan(automaton, budget.runs, self._columns_of, goes_on)
        super().__init__(automaton, budget, strings, self._plan.interpreter)
        self._store = InstanceStore(self._plan, len(automaton.registers))
        self._watermark = NEVER  # before the rows of this call
        self._emitted = 0
        self._begun = BegunBefore(len(automaton.registers))  # what another matcher hands on, if one does

    def _columns_of(self, call: ColumnCall) -> CalledColumns:
        called = CalledColumns(call, self._strings, self._check_texts)
        self._calls.append(called)
        return called

    def _check_texts(self) -> None:
        """Those that steps make are forgotten between calls: in one, all of them are there."""
        self._check_size(self._strings.bytes, "texts, with those that steps have made in one call, take", later=SHED_LATER)

    def feed(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> FinishedInstances:
        """See `Matcher.feed`; in the order of detection."""
        parts = self.feed_in_parts(rows, keys, ready, watermark, final)
        return put_together(listed(parts, self.automaton, self._strings, self._check_size)).in_order()

    def feed_in_parts(
        self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool
    ) -> Iterator[FinishedInstances]:
        """See `Matcher.feed_in_parts`."""
        keys = np.ascontiguousarray(keys, np.int64)
        self._ensure_keys(greatest(keys) + 1)
        self._bind_strings()
        ordinal, begin, end, taken_in = rows.unread(keys, ready, self._read)
        self._steps.begin(taken_in)
        self._begun.look_at(keys)
        self._plan.settings[layout.STEP_LIMIT] = int(self._store.header[table.VISITED]) + self._steps.left
        self._store.header[[table.AT_KEY, table.AT_ROW]] = 0, table.NOTHING
        while (status := self._advance(rows, keys, begin, end)) != kernel.DONE:
            if status != kernel.FULL:
                self._help(status)
            elif not self._store.finds_more():
                yield self._taken()
        self._read[keys] = np.maximum(ordinal, ready)
        self._watermark = max(self._watermark, watermark)
        self._begun.let_go()
        yield self._taken()
        self._settle(time_passed=not taken_in)

    def _advance(self, rows: PatternRows, keys: np.ndarray, begin: np.ndarray, end: np.ndarray) -> int:
        plan, store, code = self._plan, self._store, self._interpreter
        status: int = kernel.advance(
            plan.states, plan.settings, code.code, code.scratch, code.scratch_valid, code.ranks, rows.bits.view(np.int64), rows.times,
            rows.slots, rows.slot_valid, store.instances, store.registers, store.register_valid, store.cells, store.header, store.per_key,
            store.found, keys, begin, end, *self._begun.arrays,
        )  # fmt: skip
        for call in self._calls:
            if call.raised is not None:
                raise call.raised
        return status

    def _help(self, status: int) -> None:
        """The kernel stopped before it was through."""
        store = self._store
        if status == kernel.TOO_SMALL:
            store.make_room(self._watermark)
            self._check_size(store.bytes, f"{store.waiting:,} instances take", later=SHED_LATER)
        elif status == kernel.OVER_LIMIT:
            self._over_limit()
        elif status == kernel.OVER_STEPS:
            raise self._steps.exceeded(f"{store.waiting:,} instances wait for events, and it takes too long to offer them all")
        else:
            raise self._failed(int(store.header[table.ERROR]))

    def _over_limit(self) -> None:
        """Of instances: those that nothing finds any more go first."""
        store, limit = self._store, self._budget.runs or 0
        store.sweep(self._watermark)
        if store.waiting <= limit:
            return
        if self._budget.overflow is Overflow.ERROR:
            raise self._over_budget(f"more than {limit} instances wait for events")
        store.shed_oldest(store.waiting - limit + limit // SHED_PART)

    def _settle(self, time_passed: bool) -> None:
        """After the rows of a call: let go of what is over, and shed what is too much. `time_passed`: it was called for that alone."""
        store, limit = self._store, self._budget.bytes
        if time_passed or store.has_doubled or (limit is not None and store.bytes > limit):
            store.sweep(self._watermark)
        while limit is not None and store.bytes > limit:
            self._check_size(store.bytes, f"{store.waiting:,} instances take")
            store.shed_oldest(max(1, store.waiting // SHED_PART))

    def _taken(self) -> FinishedInstances:
        found = self._store.taken()
        self._emitted += len(found)
        return found

    def _failed(self, error: int) -> OstinatoError:
        if error == kernel.BAD_START:
            message = f"an event of {self.automaton.reads.stream} has no start, or one behind its end or too far back"
            return DataError(message, hint="leave such events out before")
        return error_of(self.automaton.scalar, error)

    def pass_over(self, keys: np.ndarray, ordinals: np.ndarray) -> None:
        self._ensure_keys(greatest(keys) + 1)
        self._read[keys] = ordinals

    def recode(self, new_of_old: np.ndarray) -> None:
        super().recode(new_of_old)
        for call in self._calls:
            call.forget()
        self._store.rebuild()  # instances wait by their values

    def places_in(self, heap: OpaqueValues) -> list[Places]:
        """Registers that hold positions among these values."""
        own = [n for n, register in enumerate(self.automaton.registers) if register.type.kind is Kind.OPAQUE]
        alive, flags = self._store.alive, self._store.register_valid
        return [
            (self._store.registers[:, number], alive[flags[alive, number] == IS_VALUE])
            for number in own
            if to_arrow(self.automaton.registers[number].type) == heap.type
        ]

    def metrics(self) -> dict[str, int]:
        store = self._store
        return {
            "matches": self._emitted,
            "instances": store.waiting,
            "peak_instances": int(store.header[table.PEAK]),
            "expired_instances": int(store.header[table.EXPIRED]),
            "shed_instances": store.shed,
            "instances_made": int(store.header[table.MADE]),
            "visited_instances": int(store.header[table.VISITED]),
            "instance_bytes": store.instance_bytes,
            "state_bytes": store.bytes,
        }

    def state(self) -> dict[str, np.ndarray]:
        """What is over is not saved: a session that is restored does not know how far each partition was."""
        self._store.sweep(self._watermark)
        return super().state()

    def check(self, state: StateCheck) -> None:
        check_instances(state, self.automaton)
