"""A running query: batches in, decided matches out. Every host drives this."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.base.errors import BudgetError, OstinatoError, StateError
from ostinato.kernels.vectors.vector import Vector
from ostinato.program.pattern import Pattern, RowPattern
from ostinato.program.verification.verify import verify_pattern
from ostinato.runtime.matcher import NEVER, Matcher
from ostinato.runtime.output.match_dag import MatchDag
from ostinato.runtime.output.matches import Matches
from ostinato.runtime.output.report import Report
from ostinato.runtime.rows.arrival_check import ArrivalCheck
from ostinato.runtime.rows.arrow_rows import PlainRows
from ostinato.runtime.rows.batch_order import BatchOrder
from ostinato.runtime.rows.column_reader import ColumnReader
from ostinato.runtime.rows.idle_keys import IdleKeys
from ostinato.runtime.rows.ingest import EventTimes, sort_order, take, times_of
from ostinato.runtime.rows.intake import Intake
from ostinato.runtime.rows.key_index import KeyIndex
from ostinato.runtime.rows.late_rows import LateRows
from ostinato.runtime.rows.longer_arrays import grown
from ostinato.runtime.rows.reorder import ReorderBuffer
from ostinato.runtime.rows.row_code import RowCode
from ostinato.runtime.rows.storage import empty_rows, stored_columns
from ostinato.runtime.rows.stream_form import StreamForm, form_named
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.rows.string_sweep import StringSweep
from ostinato.runtime.rows.struct_fields import flattened
from ostinato.runtime.session import session_state
from ostinato.runtime.session.budget import Budget
from ostinato.runtime.session.given_times import Watermark, watermark_units
from ostinato.runtime.session.held_matches import check_held
from ostinato.runtime.session.session_limits import SessionLimits
from ostinato.runtime.session.session_options import NOT_GIVEN, NotGiven, settled
from ostinato.runtime.strategies import open_matcher


class Session:
    """`lateness`: how long rows may be late, in the unit of the time column; 0 (the default): they come in order; None: only `advance`
    says so. `late`: what becomes of later ones, "count" or "keep", for `take_late`.
    `ordered`: the caller guarantees the query's order, within and across batches (then a time column may have nulls).
    `streams` are those that the program reads as one; without, it reads one of the program's name. `batches_apart`: the caller guarantees
    that no two batches share a time, so that no row has to wait for others of the same time. A `snapshot` carries all of it: what is
    said again has to be the same, but for the budget."""

    def __init__(
        self,
        pattern: Pattern,
        *,
        budget: Budget | None = None,
        lateness: int | NotGiven | None = NOT_GIVEN,
        ordered: bool | None = None,
        late: str | None = None,
        snapshot: bytes | None = None,
        streams: Sequence[StreamForm] = (),
        batches_apart: bool = False,
    ) -> None:
        self.pattern = verify_pattern(pattern)
        saved = None if snapshot is None else session_state.opened(pattern, snapshot)
        self.options = options = settled(lateness, ordered, late, streams, budget, None if saved is None else saved.options)
        self.streams = options.streams
        self.budget = options.budget or Budget()
        self.pool = StringPool()
        self.keys = KeyIndex(tuple(pattern.reads.columns[k].type for k in pattern.reads.keys), self.pool) if pattern.reads.keys else None
        self.stored = stored_columns(pattern)
        self.rows = empty_rows(pattern, self.stored)
        self.rows.ensure_keys(1)
        self.matcher: Matcher = open_matcher(pattern, self.budget, self.pool, in_order=options.ordered)
        self.late = LateRows(pattern, keeps=options.late == "keep")
        ties_wait = len(pattern.reads.order) > 1 and not batches_apart
        self.reorder = ReorderBuffer(options.lateness, ties_wait, self.late.add)
        self.batch_order = BatchOrder(pattern)
        self.evaluated = np.zeros(1, np.int64)  # per key, the ordinal up to which row code has run
        self.report = Report(pattern, self.pool, self.budget)
        self._limits = SessionLimits(pattern, self.budget)
        self.position = 0
        self.latest: int | None = None  # the time of the last row, where rows come in order
        self.rows_in = 0
        self.closed = False
        self._failed = False
        self._ordered = options.ordered
        self._plain = PlainRows()
        self._reader = ColumnReader(pattern)
        self._intake = Intake(pattern, self.stored, self.pool)
        self._row_code = RowCode(pattern, self.pool)
        self._arrival_check = ArrivalCheck(pattern)
        self._idle_keys = IdleKeys(pattern)
        self._texts = StringSweep()
        self._since_sweep = 0
        if saved is not None:
            session_state.restore(self, saved)
        self._restored = saved is not None

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
        return self._gathered(self._push(stream, batch, in_parts=False))

    def push_in_parts(self, stream: Any, batch: Any = None) -> Iterator[pa.Table]:
        """The same in tables of bounded size, however many matches there are: per partition in their order, except that those of one
        completing event may be cut apart. The session goes on when all of them are taken."""
        yield from self._limits.within_memory(self._push(stream, batch, in_parts=True))

    def _push(self, stream: Any, batch: Any, in_parts: bool) -> Iterator[pa.Table]:
        self._usable()
        batch = self._plain.of(stream) if batch is None else self._of_stream(stream, self._plain.of(batch))
        if batch.num_rows == 0:
            self._reader.read(batch)  # a wrong schema is an error also without rows
            return
        self.rows_in += batch.num_rows
        if self._ordered:
            yield from self._process([batch], in_parts, presorted=True)
            return
        columns = self._reader.read(batch)
        if self.pattern.reads.time < 0:
            self.batch_order.check(batch)
            yield from self._process_columns(columns, None, in_parts)
            return
        times = times_of(columns, self.pattern, nulls_allowed=False)
        assert times is not None
        if not self.reorder.waits and (self.reorder.horizon == NEVER or times.least >= self.reorder.horizon):
            self.reorder.horizon = max(self.reorder.horizon, times.greatest)
            yield from self._process_columns(columns, times, in_parts)
            return
        self._check_arrived(columns, times.values)
        table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
        needed = flattened(table, self.pattern.reads.columns)
        yield from self._process(self.reorder.add(needed, times.values), in_parts)
        self._limits.check_rows(self, self._texts)

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
            form_named(name, (StreamForm(self.pattern.reads.stream, ()),))
            return batch
        table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
        return form_named(name, self.streams).of(table, self.pattern.reads.columns)

    def advance(self, watermark: Watermark) -> pa.Table:
        """No row with a time below `watermark` will come any more: release what waited, decide what only time decides."""
        return self._gathered(self._advance(watermark, in_parts=False))

    def advance_in_parts(self, watermark: Watermark) -> Iterator[pa.Table]:
        """See `push_in_parts`."""
        yield from self._limits.within_memory(self._advance(watermark, in_parts=True))

    def _advance(self, watermark: Watermark, in_parts: bool) -> Iterator[pa.Table]:
        self._usable()
        due = self.reorder.advance(watermark_units(watermark, self.pattern))
        yield from self._process(due, in_parts)
        if self.pattern.within >= 0 and self.pattern.within_unit == "time":
            yield from self._sweep(in_parts)

    def close(self) -> pa.Table:
        """No row will come any more. The session cannot be used afterwards."""
        return self._gathered(self._close(in_parts=False))

    def close_in_parts(self) -> Iterator[pa.Table]:
        """See `push_in_parts`."""
        yield from self._limits.within_memory(self._close(in_parts=True))

    def _close(self, in_parts: bool) -> Iterator[pa.Table]:
        self._usable()
        yield from self._process(self.reorder.flush(), in_parts)
        yield from self._go_on(self._busy_keys(), in_parts, final=True)
        self.closed = True
        yield self.report.last(self.matcher)

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
            **({} if self.report.timeouts is None else {"timed_out": self.report.timeouts.count}),
            **self.matcher.metrics(),
        }

    def _gathered(self, tables: Iterator[pa.Table]) -> pa.Table:
        try:
            return self.report.joined(self._limits.gathered(self._limits.within_memory(tables)))
        except BudgetError:
            self._failed = True
            raise

    def _usable(self) -> None:
        if self.closed:
            raise StateError("the session is closed", hint="open a new one from the query")
        if self._failed:
            hint = "restore a snapshot from before that batch, or open a new session"
            raise StateError("the session stopped at an error in an earlier batch", hint=hint)

    def _process(self, batches: list[Any], in_parts: bool, presorted: bool = False) -> Iterator[pa.Table]:
        if not batches:
            return
        batch = batches[0] if len(batches) == 1 else pa.concat_tables(batches)
        columns = self._reader.read(batch)
        times = times_of(columns, self.pattern, nulls_allowed=presorted and self.pattern.within < 0, presorted=presorted)
        yield from self._process_columns(columns, times, in_parts, presorted)

    def _process_columns(
        self, columns: dict[str, Vector], event_times: EventTimes | None, in_parts: bool, presorted: bool = False
    ) -> Iterator[pa.Table]:
        count = len(next(iter(columns.values())).data) if columns else 0
        order = None if presorted else sort_order(columns, self.pattern, event_times)
        times = None if event_times is None else event_times.values
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
        yield from self._go_on(touched, in_parts)
        if self._due_for_sweep(count):
            yield from self._sweep(in_parts, touched)
        self._idle_keys.forget(self)
        self._texts.sweep(self)
        self.rows.forget_opaque()
        self._limits.check_rows(self, self._texts)

    def _selected(self, columns: dict[str, Vector], order: np.ndarray | None) -> tuple[np.ndarray | None, np.ndarray | None]:
        """The rows to process, in order (None: all as they are), and their ranks among all rows in order (None: they are all).
        A null in an equivalence test is in no partition."""
        if self.pattern.reads.null_keys != "never":
            return order, None
        keep = None
        for k in self.pattern.reads.keys:
            valid = columns[self.pattern.reads.columns[k].name].valid
            if valid is not None and not valid.all():
                keep = valid if keep is None else keep & valid
        if keep is None:
            return order, None
        ranks = np.flatnonzero(keep if order is None else keep[order])
        return (ranks if order is None else order[ranks]), ranks

    def _append(self, columns: dict[str, Vector], times: np.ndarray | None, positions: np.ndarray) -> np.ndarray:
        touched = self._intake.append(self.rows, self.keys, columns, times, positions)
        self.evaluated = grown(self.evaluated, self.rows.key_count)
        return touched

    def _go_on(self, keys: np.ndarray, in_parts: bool, final: bool = False) -> Iterator[pa.Table]:
        """Evaluate new rows of these keys, drive the matcher over them, report, and let go of rows."""
        if not len(keys):
            return
        self._failed = True  # until this is through: state that was left half-way is not used again
        rows = self.rows
        total = rows.base[keys] + rows.length[keys]
        start = self.evaluated[keys]
        ready = total if final else np.maximum(start, total - self._idle_keys.awaited(rows, keys, self.reorder.horizon))
        self._row_code.evaluate(rows, keys, start, ready)
        self.evaluated[keys] = ready
        matches: Matches | MatchDag = Matches.none()
        for matches in self._found(keys, ready, in_parts, final):
            if self._restored:
                check_held(matches, rows)
            if len(matches):
                yield self.report.table(matches, rows, self.keys)
        searched = np.minimum(self.matcher.keep_from(keys), ready)
        yield from self.report.left_over(matches, keys, ready if final else searched, ready, rows, self.keys)
        rows.trim(keys, searched - self.pattern.look_back)
        self._failed = False

    def _found(self, keys: np.ndarray, ready: np.ndarray, in_parts: bool, final: bool) -> Iterator[Matches | MatchDag]:
        """In parts where somebody asks for it, and where the order of matches is that of the parts or does not matter. Rows of no match
        and timeouts are known by all matches together."""
        apart = in_parts or isinstance(self.pattern, RowPattern) or self.pattern.output in ("count", "aggregates")
        given = (self.rows, keys, ready, self.reorder.horizon, final)
        if apart and not self.report.looks_between_matches:
            yield from self.matcher.feed_in_parts(*given)
        else:
            yield self.matcher.feed(*given)

    def _busy_keys(self) -> np.ndarray:
        """Keys with state or with rows that wait for their neighbours."""
        known = np.arange(self.key_count)
        waiting = self.rows.base[known] + self.rows.length[known] > self.evaluated[known]
        return known[waiting | ~self.matcher.idle(known)]

    def _due_for_sweep(self, count: int) -> bool:
        """Partitions that receive nothing are looked at when their number is paid for by the rows since the last time. Half of it, so that
        it happens also where every row brings a key of its own."""
        if self.pattern.within < 0 or self.pattern.within_unit != "time" or self.keys is None:
            return False
        self._since_sweep += count
        return 2 * self._since_sweep >= len(self.keys)

    def _sweep(self, in_parts: bool, just_seen: np.ndarray | None = None) -> Iterator[pa.Table]:
        """Let the time decide that has passed; of the keys `just_seen` it has already."""
        self._since_sweep = 0
        keys = self._busy_keys()
        if just_seen is not None and len(keys):
            seen = np.zeros(self.rows.key_count, np.bool_)
            seen[just_seen] = True
            keys = keys[~seen[keys]]
        yield from self._go_on(keys, in_parts)
