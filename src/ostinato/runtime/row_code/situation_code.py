"""Row code of patterns of situations: which rows satisfy a definition, in batches that several threads derive beside one another, and the
values that situations carry, for those rows alone that are in one.

Runs of rows that satisfy a definition may go on from one batch to the next. Nothing has to be done about that: what is written is a bit per
row, and situations are what lies between two rows at which a bit changes (`kernels.intervals.quiet_rows`), wherever batches were cut."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from ostinato.expr.types import Kind
from ostinato.kernels.rows.grouping import ranges
from ostinato.kernels.rows.key_regions import total
from ostinato.kernels.vectors.evaluate import Evaluator
from ostinato.kernels.vectors.vector import Vector
from ostinato.program.code_inputs import code_inputs
from ostinato.program.column_code import ColumnCode
from ostinato.program.intervals import IntervalPattern
from ostinato.runtime.row_code.batch_tuning import BatchTuning
from ostinato.runtime.row_code.row_code import Evaluated, Extent, RowCode, compact_strings, side_by_side, store_bits
from ostinato.runtime.row_code.row_stretches import RowStretches, batches
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.workers import Workers


class SituationCode(RowCode):
    """`evaluate` writes all down; nothing is left for `store`."""

    def __init__(self, pattern: IntervalPattern, pool: StringPool, workers: Workers) -> None:
        super().__init__([pattern], pool)
        bits, slots = pattern.rows.results[: pattern.bits], pattern.rows.results[pattern.bits :]
        self._bit_code, self._slot_code = pattern.rows.reduced_to(bits), pattern.rows.reduced_to(slots)
        self._bit_evaluator, self._slot_evaluator = Evaluator(self._bit_code), Evaluator(self._slot_code)
        self._seeks = _shifts(self._slot_code)  # what is carried looks at other rows than its own
        carrying = {one.bit for one in pattern.definitions if one.block >= 0 or one.start >= 0}
        self._carrying = np.uint64(sum(1 << bit for bit in carrying))
        self._workers = Workers(1) if _calls_users(pattern.rows) else workers
        self._slots_apart = any(type_.kind is Kind.STRING for type_ in pattern.slots)  # one thread gives new strings their codes
        self.tuning = BatchTuning(self._workers.most)
        self.batches = 0

    def fill(self, rows: PatternRows, keys: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
        """Comparisons of columns need none in between."""
        direct, count = self._direct, total(end - start)
        if direct is None:
            self.evaluate(rows, keys, start, end)
            return
        self.tuning.choose(count)
        if self.tuning.threads == 1:
            direct.run(rows, keys, start, end)
            return
        cut = list(batches(keys, start, end, self.tuning.size))
        direct.make_ready(rows)
        self._timed(len(cut), count, lambda number: direct.run(rows, *cut[number]))

    def evaluate(self, rows: PatternRows, keys: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
        stretches = RowStretches.of(rows, keys, start, end, self._back)
        count = stretches.rows
        if not count:
            return
        self.tuning.choose(count)
        cut = list(stretches.cut(self.tuning.size))
        self._make_ready(rows)
        self._timed(len(cut), count, lambda number: self._derive(rows, _Batch(cut[number])))
        if self._slots_apart:
            for batch in cut:
                self._carry(rows, _Batch(batch))

    def store(self, view: PatternRows, number: int = 0, chosen: np.ndarray | None = None) -> None:
        """See `evaluate`."""

    def metrics(self) -> dict[str, int]:
        return {"derived_batches": self.batches}

    def _make_ready(self, rows: PatternRows) -> None:
        """What is made at its first use is made by one thread."""
        for name in code_inputs(self._bit_code):
            rows.arena.column(rows.held_as(name))
        if any(type_.kind is Kind.STRING for type_ in self._types.values()):
            len(self._pool.strings)

    def _timed(self, count: int, rows: int, work: Callable[[int], None]) -> None:
        """So many batches, and how long they take."""
        seconds = np.zeros(count)

        def run(number: int) -> None:
            began = perf_counter()
            work(number)
            seconds[number] = perf_counter() - began

        self._workers.each(count, run, self.tuning.threads)
        self.tuning.took(rows, float(seconds.sum()))
        self.batches += count

    def _derive(self, rows: PatternRows, batch: _Batch) -> None:
        if self._bit_code.results:
            extent = batch.extent
            found = self._bit_evaluator.evaluate(extent.count, lambda name: self._input(rows, extent.index, name), extent.shift)
            store_bits(rows, found, Evaluated(extent, found, batch.source, batch.wanted, batch.target))
        if not self._slots_apart:
            self._carry(rows, batch)

    def _carry(self, rows: PatternRows, batch: _Batch) -> None:
        """The slots of the rows that are in a situation which carries something."""
        if not self._slot_code.results:
            return
        asked = side_by_side(batch.target, batch.wanted)
        if self._back:  # these rows may be kept, for PREV, and saved
            rows.slots[asked] = 0
            rows.slot_valid[asked] = 0
        chosen = np.flatnonzero(rows.bits[asked] & self._carrying)
        if not len(chosen):
            return
        places = chosen + asked.start if isinstance(asked, slice) else asked[chosen]
        if self._seeks:
            extent = batch.extent
            values = self._slot_evaluator.evaluate(extent.count, lambda name: self._input(rows, extent.index, name), extent.shift)
            self._store_slots(rows, places, values, ranges(batch.source, batch.wanted)[chosen])
        else:
            values = self._slot_evaluator.evaluate(len(places), lambda name: self._taken(rows, places, name))
            self._store_slots(rows, places, values, None)

    def _taken(self, rows: PatternRows, places: np.ndarray, name: str) -> Vector:
        held = rows.held_as(name)
        known, type_ = rows.arena.valid[held], self._types[name]
        valid, data = None if known is None else known[places], rows.arena.taken(held, places)
        if type_.kind is not Kind.STRING:
            return Vector(type_, data, valid, rows.opaque.get(name))
        return compact_strings(Vector(type_, data, valid, self._pool.strings))


class _Batch:
    """`source`: where the rows that are asked for begin, among all that are evaluated."""

    def __init__(self, stretches: RowStretches) -> None:
        self.target, self.wanted = stretches.target, stretches.wanted
        counts = stretches.before + stretches.wanted
        begin = np.concatenate([[0], np.cumsum(counts)])
        self.extent = Extent(stretches.target - stretches.before, counts, begin)
        self.source = begin[:-1] + stretches.before


def _shifts(code: ColumnCode) -> bool:
    return any(op.op == "shift" for op in code.ops)


def _calls_users(code: ColumnCode) -> bool:
    """Functions of users may not be made for several threads."""
    return any(op.op == "user" for op in code.ops)
