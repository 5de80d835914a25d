"""The strategy "compact" where matches are only counted, or values over all of them summed: without keeping any match apart."""

from __future__ import annotations

import numpy as np

from ostinato.base.errors import DataError
from ostinato.kernels.aggregation import aggregation as kernel
from ostinato.kernels.aggregation import aggregation_window as window
from ostinato.kernels.aggregation.aggregation_cells import FULL, KIND, LOST, SUM_INT
from ostinato.program.pattern import EventPattern
from ostinato.runtime.aggregation.accumulator_values import FLOAT_ACCUMULATORS, AccumulatorValues
from ostinato.runtime.aggregation.aggregation_plan import AccumulatorPlan, SymbolOperations, aggregation_settings
from ostinato.runtime.aggregation.aggregation_store import AggregationStore
from ostinato.runtime.compact.compact_state import check_aggregation
from ostinato.runtime.limits.budget import Budget, Overflow, in_words, over_budget, too_many_matches
from ostinato.runtime.matcher import NEVER, Matcher
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.output.match_totals import Total
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.snapshots.state_check import StateCheck

SHED_PART = 16
HINT = "shorten WITHIN, or raise the budget's bytes"


class AggregationMatcher(Matcher):
    """No rows are needed again. The budget's runs do not apply."""

    def __init__(self, pattern: EventPattern, budget: Budget, pool: StringPool) -> None:
        self._pattern = pattern
        self._budget = budget
        self._accumulator_plan = AccumulatorPlan(pattern)
        self._accumulators = self._accumulator_plan.table
        self._values = AccumulatorValues(pattern, self._accumulator_plan, pool)
        self._operations = SymbolOperations(pattern, self._accumulator_plan)
        self._settings = aggregation_settings(pattern, self._operations)
        self._store = AggregationStore(self._operations.states, self._accumulators)
        self._read = np.zeros(0, np.int64)  # per key, the next unread ordinal
        self._shed = 0

    def feed(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> Matches:
        keys = np.ascontiguousarray(keys, np.int64)
        self._ensure_keys(int(keys.max(initial=-1)) + 1)
        settings = self._settings
        settings[kernel.WATERMARK], settings[kernel.HAS_WATERMARK], settings[kernel.FINAL] = watermark, watermark != NEVER, final
        ordinal = self._read[keys]
        bounds = np.empty((len(keys), 2), np.int64)
        bounds[:, 0] = rows.index_of(keys, ordinal)
        bounds[:, 1] = bounds[:, 0] + np.maximum(ready - ordinal, 0)
        behind = ordinal + bounds[:, 1] - bounds[:, 0]
        self._advance(rows, keys, bounds, behind)
        self._read[keys] = behind
        if self._store.total[0] == FULL:
            raise too_many_matches(self._pattern)
        self._within_bytes(rows)
        return Matches.none()

    def _ensure_keys(self, count: int) -> None:
        self._store.ensure_keys(count)
        self._read = grown(self._read, len(self._store.partitions))

    def _advance(self, rows: PatternRows, keys: np.ndarray, bounds: np.ndarray, behind: np.ndarray) -> None:
        """Call the kernel until it is through; between calls it learns symbols, or its arrays grow."""
        store, learned, header = self._store, self._operations, self._store.header
        header[window.AT_KEY], header[window.AT_ROW] = 0, window.NOTHING
        bits = rows.bits.view(np.int64)
        values, valid, value_at = self._values.of(rows, bounds)
        begin = bounds.reshape(-1)
        while True:
            symbols = learned.symbols
            self._settings[kernel.FRONTS] = store.fronts
            status = kernel.advance(
                learned.table, learned.operations, self._accumulators, symbols.direct, symbols.slot_bits, symbols.slot_numbers,
                self._settings, bits, rows.times, rows.positions, values, valid, value_at, store.total,
                store.back, store.back_values, store.back_valid, store.front, store.matrices, store.product,
                store.current, store.later, store.partitions, header, keys, begin, behind,
            )  # fmt: skip
            if status == kernel.DONE:
                return
            if status == kernel.NEW_SYMBOL:
                learned.meet(int(bits[header[window.AT_ROW]]))
            else:
                store.make_room()

    def _within_bytes(self, rows: PatternRows) -> None:
        limit = self._budget.bytes
        while limit is not None and self._store.bytes > limit:
            if self._budget.overflow is Overflow.ERROR or not self._settings[kernel.WINDOWED]:
                raise over_budget(
                    self._pattern, f"the window takes {in_words(self._store.bytes)}, and the budget is {in_words(limit)}", HINT
                )
            self._shed_oldest(rows)

    def _shed_oldest(self, rows: PatternRows) -> None:
        """Take out the starts in the first part of each window, as if time had gone on so far."""
        store, settings = self._store, self._settings
        keys = np.flatnonzero(store.active)
        before, by_time = int(store.header[window.LEFT]), int(settings[kernel.BY_TIME])
        oldest, clock = store.partitions[keys, window.OLDEST], store.partitions[keys, window.CLOCK]
        settings[kernel.BY_TIME] = settings[kernel.FINAL] = 0  # the moment is given per partition, as an ordinal would be
        self._advance(rows, keys, np.zeros((len(keys), 2), np.int64), oldest + (clock - oldest) // SHED_PART + settings[kernel.SPAN] + 1)
        settings[kernel.BY_TIME] = by_time
        self._shed += int(store.header[window.LEFT]) - before

    def totals(self) -> list[Total]:
        total = self._store.total
        found = []
        for accumulator, counter in self._accumulator_plan.of_aggregate:
            if total[counter] == LOST:
                raise too_many_matches(self._pattern)
            if self._accumulators[accumulator, KIND] == SUM_INT and total[accumulator] == LOST:
                raise DataError("SUM goes beyond 64 bits", hint="CAST its argument to DOUBLE if rounding is acceptable")
            word = total[accumulator : accumulator + 1]
            value = word.view(np.float64)[0].item() if self._accumulators[accumulator, KIND] in FLOAT_ACCUMULATORS else word[0].item()
            found.append((int(total[counter]), value))
        return found

    def keep_from(self, keys: np.ndarray) -> np.ndarray:
        return self._read[keys]

    def idle(self, keys: np.ndarray) -> np.ndarray:
        self._ensure_keys(int(np.max(keys, initial=-1)) + 1)
        return self._store.active[keys] == 0

    def pass_over(self, keys: np.ndarray, ordinals: np.ndarray) -> None:
        self._ensure_keys(int(np.max(keys, initial=-1)) + 1)
        self._read[keys] = ordinals

    def renumber(self, old_of_new: np.ndarray) -> None:
        self._ensure_keys(int(np.max(old_of_new, initial=-1)) + 1)
        self._store.renumber(old_of_new)
        self._read = self._read[old_of_new]

    def metrics(self) -> dict[str, int]:
        header = self._store.header
        return {
            "matches": int(self._store.total[0]),
            "window_events": int(header[window.USED_BACK]),
            "window_starts": int(header[window.USED_FRONT] + header[window.WAITING_STARTS]),
            "shed_starts": self._shed,
            "row_symbols": len(self._operations.symbols),
            "state_bytes": self._store.bytes,
        }

    def state(self) -> dict[str, np.ndarray]:
        learned = np.array(self._operations.symbols.known, np.int64)  # entries of the window refer to symbols by number
        return {**self._store.state(), "read": self._read, "symbols": learned}

    def check(self, state: StateCheck) -> None:
        check_aggregation(state, self._store.size // len(self._accumulators), len(self._accumulators), self._operations.symbols.mask)

    def load(self, state: dict[str, np.ndarray]) -> None:
        for bits in state["symbols"][len(self._operations.symbols) :]:
            self._operations.learn(int(bits))
        self._store.load(state, self._operations.table[:, window.STARTS])
        self._read = state["read"].copy()
