"""A running query: batches in, decided matches out. Every host drives this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.base.errors import OstinatoError, StateError
from ostinato.expr.arrow_types import to_arrow
from ostinato.expr.types import Kind, Type
from ostinato.kernels.vectors.vector import Vector
from ostinato.program.program import Program
from ostinato.program.verify import verify
from ostinato.runtime import session_state
from ostinato.runtime.arrival_check import ArrivalCheck
from ostinato.runtime.batch_order import BatchOrder
from ostinato.runtime.budget import Budget
from ostinato.runtime.given_times import Watermark, watermark_units
from ostinato.runtime.idle_keys import IdleKeys
from ostinato.runtime.ingest import arrow_rows, read_columns, sort_order, take, times_of
from ostinato.runtime.key_index import KeyIndex
from ostinato.runtime.keyed_rows import KeyedRows
from ostinato.runtime.late_rows import LateRows
from ostinato.runtime.longer_arrays import grown
from ostinato.runtime.match_dag import MatchDag
from ostinato.runtime.matcher import NEVER, Matcher
from ostinato.runtime.matches import Matches
from ostinato.runtime.reorder import ReorderBuffer
from ostinato.runtime.report import Report
from ostinato.runtime.row_code import RowCode
from ostinato.runtime.session_options import NOT_GIVEN, NotGiven, settled
from ostinato.runtime.storage import needs_positions, occurrence_columns, stored_columns
from ostinato.runtime.strategies import open_matcher
from ostinato.runtime.stream_form import StreamForm, form_named
from ostinato.runtime.string_pool import StringPool
from ostinato.runtime.string_sweep import StringSweep


class Session:
    """`lateness`: how long rows may be late, in the unit of the time column; 0 (the default): they come in order; None: only `advance`
    says so. `late`: what becomes of later ones, "count" or "keep", for `take_late`.
    `ordered`: the caller guarantees the query's order, within and across batches (then a time column may have nulls).
    `streams` are those that the program reads as one; without, it reads one of the program's name. `batches_apart`: the caller guarantees
    that no two batches share a time, so that no row has to wait for others of the same time. A `snapshot` carries all of it: what is
    said again has to be the same, but for the budget."""

    def __init__(
        self,
        program: Program,
        *,
        budget: Budget | None = None,
        lateness: int | NotGiven | None = NOT_GIVEN,
        ordered: bool | None = None,
        late: str | None = None,
        snapshot: bytes | None = None,
        streams: Sequence[StreamForm] = (),
        batches_apart: bool = False,
    ) -> None:
        self.program = verify(program)
        saved = None if snapshot is None else session_state.opened(program, snapshot)
        self.options = options = settled(lateness, ordered, late, streams, budget, None if saved is None else saved.options)
        self.streams = options.streams
        self.budget = options.budget or Budget()
        self.pool = StringPool()
        self.keys = KeyIndex(tuple(program.columns[k].type for k in program.keys), self.pool) if program.keys else None
        self.stored = stored_columns(program)
        self.rows = _empty_rows(program, self.stored)
        self.rows.ensure_keys(1)
        self.matcher: Matcher = open_matcher(program, self.budget, self.pool, in_order=options.ordered)
        self.late = LateRows(program, keeps=options.late == "keep")
        ties_wait = len(program.order) > 1 and not batches_apart
        self.reorder = ReorderBuffer(options.lateness, ties_wait, self.late.add)
        self.batch_order = BatchOrder(program)
        self.evaluated = np.zeros(1, np.int64)  # per key, the ordinal up to which row code has run
        self.report = Report(program, self.pool)
        self.position = 0
        self.latest: int | None = None  # the time of the last row, where rows come in order
        self.rows_in = 0
        self.closed = False
        self._failed = False
        self._ordered = options.ordered
        self._row_code = RowCode(program, self.pool)
        self._arrival_check = ArrivalCheck(program)
        self._idle_keys = IdleKeys(program)
        self._texts = StringSweep()
        self._since_sweep = 0
        if saved is not None:
            session_state.restore(self, saved)

    @property
    def schema(self) -> pa.Schema:
        return self.report.schema

    @property
    def key_count(self) -> int:
        """Partitions that are known now."""
        return len(self.keys) if self.keys is not None else 1

    def push(self, stream: Any, batch: Any = None) -> pa.Table:
        """Take rows in, as Arrow or as a frame that gives itself as Arrow; returns the matches that are decided now. `push(batch)` is for
        a query of one stream, `push(stream, batch)` says of which stream the rows are."""
        self._usable()
        batch = arrow_rows(stream) if batch is None else self._of_stream(stream, arrow_rows(batch))
        if batch.num_rows == 0:
            read_columns(batch, self.program)  # a wrong schema is an error also without rows
            return self.report.nothing()
        self.rows_in += batch.num_rows
        if self._ordered:
            return self._process([batch], presorted=True)
        columns = read_columns(batch, self.program)
        if self.program.time < 0:
            self.batch_order.check(batch)
            return self._process_columns(columns, None)
        times = times_of(columns, self.program, nulls_allowed=False)
        assert times is not None
        if not self.reorder.waits and (self.reorder.horizon == NEVER or times.min() >= self.reorder.horizon):
            self.reorder.horizon = max(self.reorder.horizon, int(times.max()))
            return self._process_columns(columns, times)
        self._check_arrived(columns, times)
        table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
        needed = table.select([c.name for c in self.program.columns])
        return self._process(self.reorder.add(needed, times), presorted=False)

    def _check_arrived(self, columns: dict[str, Vector], times: np.ndarray) -> None:
        """Of rows that are late, or in no partition, nothing is computed later either; others are looked at now if they may wait."""
        if not self._arrival_check or not self.reorder.waits:
            return
        chosen, _ = self._selected(columns, np.flatnonzero(times >= self.reorder.horizon))
        assert chosen is not None
        if len(chosen) < len(times):
            columns = {name: take(vector, chosen) for name, vector in columns.items()}
        self._arrival_check.check(columns, len(chosen))

    def _of_stream(self, name: str, batch: pa.RecordBatch | pa.Table) -> pa.RecordBatch | pa.Table:
        if not self.streams:
            form_named(name, (StreamForm(self.program.stream, ()),))
            return batch
        schema = pa.schema([(column.name, to_arrow(column.type)) for column in self.program.columns])
        table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
        return form_named(name, self.streams).of(table, schema)

    def advance(self, watermark: Watermark) -> pa.Table:
        """No row with a time below `watermark` will come any more: release what waited, decide what only time decides."""
        self._usable()
        due = self.reorder.advance(watermark_units(watermark, self.program))
        outputs = [self._process(due, presorted=False)]
        if self.program.within >= 0 and self.program.within_unit == "time":
            outputs.append(self._sweep())
        return self.report.joined(outputs)

    def close(self) -> pa.Table:
        """No row will come any more. The session cannot be used afterwards."""
        self._usable()
        outputs = [self._process(self.reorder.flush(), presorted=False)]
        outputs.append(self._go_on(self._busy_keys(), final=True))
        self.closed = True
        return self.report.last(self.report.joined(outputs), self.matcher)

    def snapshot(self) -> bytes:
        """Everything that is needed to go on, as bytes with a version."""
        self._usable()
        return session_state.save(self)

    def take_late(self) -> pa.Table:
        """The rows that came too late since they were last taken, with the columns that the query reads and the reason."""
        if self.options.late != "keep":
            raise OstinatoError("late rows are only counted", hint='Open the session with late="keep" to have them')
        return self.late.take()

    def metrics(self) -> dict[str, int]:
        return {
            "rows": self.rows_in,
            "late_rows": self.late.count,
            "waiting_rows": self.reorder.waiting_rows,
            "retained_rows": int(self.rows.length.sum()),
            "keys": self.key_count,
            "matches": self.report.emitted,
            **self.matcher.metrics(),
        }

    def _usable(self) -> None:
        if self.closed:
            raise StateError("the session is closed", hint="open a new one from the query")
        if self._failed:
            hint = "restore a snapshot from before that batch, or open a new session"
            raise StateError("the session stopped at an error in an earlier batch", hint=hint)

    def _process(self, batches: list[Any], presorted: bool) -> pa.Table:
        if not batches:
            return self.report.nothing()
        batch = batches[0] if len(batches) == 1 else pa.concat_tables(batches)
        columns = read_columns(batch, self.program)
        times = times_of(columns, self.program, nulls_allowed=presorted and self.program.within < 0, presorted=presorted)
        return self._process_columns(columns, times, presorted)

    def _process_columns(self, columns: dict[str, Vector], times: np.ndarray | None, presorted: bool = False) -> pa.Table:
        count = len(next(iter(columns.values())).data) if columns else 0
        order = None if presorted else sort_order(columns, self.program)
        if presorted and times is not None and count:
            self.latest = int(times[-1])
        positions = np.arange(self.position, self.position + count)
        self.position += count
        chosen, ranks = self._selected(columns, order)
        if chosen is not None:
            columns = {name: take(vector, chosen) for name, vector in columns.items()}
            times = None if times is None else times[chosen]
            positions = positions if ranks is None else positions[ranks]  # rows that are left out count, however batches are cut
        touched = self._append(columns, times, positions)
        output = self._go_on(touched, final=False)
        if self._due_for_sweep(count):
            output = self.report.joined([output, self._sweep(touched)])
        self._idle_keys.forget(self)
        self._texts.sweep(self)
        return output

    def _selected(self, columns: dict[str, Vector], order: np.ndarray | None) -> tuple[np.ndarray | None, np.ndarray | None]:
        """The rows to process, in order (None: all as they are), and their ranks among all rows in order (None: they are all).
        A null in an equivalence test is in no partition."""
        if self.program.null_keys != "never":
            return order, None
        keep = None
        for k in self.program.keys:
            valid = columns[self.program.columns[k].name].valid
            if valid is not None and not valid.all():
                keep = valid if keep is None else keep & valid
        if keep is None:
            return order, None
        ranks = np.flatnonzero(keep if order is None else keep[order])
        return (ranks if order is None else order[ranks]), ranks

    def _append(self, columns: dict[str, Vector], times: np.ndarray | None, positions: np.ndarray) -> np.ndarray:
        """Put the rows behind those of their keys; returns the keys."""
        numbers = None
        if self.keys is not None:
            numbers = self.keys.number([columns[self.program.columns[k].name] for k in self.program.keys])
            self.rows.ensure_keys(len(self.keys))
        self.evaluated = grown(self.evaluated, self.rows.key_count)
        batch = {self.rows.held_as(name): self._storable(columns[name]) for name in self.stored}
        if times is not None:
            batch["times"] = (times, columns[self.program.columns[self.program.time].name].valid)
        if needs_positions(self.program):
            batch["positions"] = (positions, None)
        grouping = self.rows.group(numbers, len(positions))
        self.rows.append(grouping, batch)
        return grouping.keys

    def _storable(self, vector: Vector) -> tuple[np.ndarray, np.ndarray | None]:
        if vector.type.kind is not Kind.STRING:
            return vector.data, vector.valid
        codes = self.pool.codes_of(vector.dictionary)
        return (codes[vector.data] if len(codes) else np.zeros(len(vector.data), np.int64)), vector.valid

    def _go_on(self, keys: np.ndarray, final: bool) -> pa.Table:
        """Evaluate new rows of these keys, drive the matcher over them, report, and let go of rows."""
        if not len(keys):
            return self.report.nothing()
        self._failed = True  # until this is through: state that was left half-way is not used again
        rows = self.rows
        total = rows.base[keys] + rows.length[keys]
        start = self.evaluated[keys]
        ready = total if final else np.maximum(start, total - self._idle_keys.awaited(rows, keys, self.reorder.horizon))
        self._row_code.evaluate(rows, keys, start, ready)
        self.evaluated[keys] = ready
        matches = self.matcher.feed(rows, keys, ready, self.reorder.horizon, final)
        searched = np.minimum(self.matcher.keep_from(keys), ready)
        output = self._reported(matches)
        if self.report.unmatched is not None:
            output = self.report.joined([output, self.report.left_over(matches, keys, ready if final else searched, rows)])
        rows.trim(keys, searched - self.program.back)
        self._failed = False
        return output

    def _reported(self, matches: Matches | MatchDag) -> pa.Table:
        return self.report.table(matches, self.rows, self.keys) if len(matches) else self.report.nothing()

    def _busy_keys(self) -> np.ndarray:
        """Keys with state or with rows that wait for their neighbours."""
        known = np.arange(self.key_count)
        waiting = self.rows.base[known] + self.rows.length[known] > self.evaluated[known]
        return known[waiting | ~self.matcher.idle(known)]

    def _due_for_sweep(self, count: int) -> bool:
        """Partitions that receive nothing are looked at when their number is paid for by the rows since the last time. Half of it, so that
        it happens also where every row brings a key of its own."""
        if self.program.within < 0 or self.program.within_unit != "time" or self.keys is None:
            return False
        self._since_sweep += count
        return 2 * self._since_sweep >= len(self.keys)

    def _sweep(self, just_seen: np.ndarray | None = None) -> pa.Table:
        """Let the time decide that has passed; of the keys `just_seen` it has already."""
        self._since_sweep = 0
        keys = self._busy_keys()
        if just_seen is not None and len(keys):
            seen = np.zeros(self.rows.key_count, np.bool_)
            seen[just_seen] = True
            keys = keys[~seen[keys]]
        return self._go_on(keys, final=False)


def _empty_rows(program: Program, stored: dict[str, Type]) -> KeyedRows:
    """Values lie in arrays as `expr.types` says."""
    held = {Kind.FLOAT: np.float64, Kind.BOOL: np.bool_}
    time = program.columns[program.time].name if program.time >= 0 else None
    dtypes = {name: held.get(type_.kind, np.int64) for name, type_ in stored.items()}
    rows = KeyedRows(dtypes, len(program.slots), program.time >= 0, needs_positions(program), time)
    for name in occurrence_columns(program):
        rows.arena.declare(name, np.int64)
    return rows
