"""The rows of one input: read, put in order, numbered by key and stored once, for all patterns that read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.base.errors import OstinatoError, StateError
from ostinato.expr.types import Type
from ostinato.kernels.vectors.vector import Vector
from ostinato.program.input import Input
from ostinato.program.pattern import Pattern
from ostinato.runtime.rows.arrival_check import ArrivalCheck
from ostinato.runtime.rows.arrow_rows import PlainRows
from ostinato.runtime.rows.batch_order import BatchOrder
from ostinato.runtime.rows.column_reader import CodedTexts, ColumnReader
from ostinato.runtime.rows.ingest import EventTimes, is_by_time, sort_order, take, times_of
from ostinato.runtime.rows.intake import Intake
from ostinato.runtime.rows.key_index import KeyIndex
from ostinato.runtime.rows.late_rows import LateRows
from ostinato.runtime.rows.reorder import NEVER, ReorderBuffer
from ostinato.runtime.rows.storage import empty_rows, needs_positions, stored_columns
from ostinato.runtime.rows.stream_form import in_form
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.rows.struct_fields import flattened
from ostinato.runtime.session.session_options import SessionOptions
from ostinato.runtime.workers import Workers

NO_KEYS = np.zeros(0, np.int64)
Refuse = Callable[[int, OstinatoError], None]  # told of a pattern, by its place among those that read, which cannot take rows


class InputRows:
    """`patterns` are those that read it. Rows that come from operators of the same session (`has_upstream`) wait for the watermarks of
    these; rows from outside do what the session was told. `batches_apart`: no two batches share a time. `workers` share what many rows
    cost."""

    def __init__(
        self, reads: Input, patterns: Sequence[Pattern], options: SessionOptions, *, batches_apart: bool, workers: Workers | None = None
    ) -> None:
        self.reads = reads
        self.workers = Workers() if workers is None else workers
        self.has_upstream = any(source.operator >= 0 for source in reads.sources)
        self.pool = StringPool()
        self.keys = KeyIndex(tuple(reads.columns[k].type for k in reads.keys), self.pool) if reads.keys else None
        self.stored: dict[str, Type] = {name: type_ for pattern in patterns for name, type_ in stored_columns(pattern).items()}
        self._positioned = any(map(needs_positions, patterns))
        self.rows = empty_rows(reads, self.stored, patterns)
        self.rows.ensure_keys(1)
        self.late = LateRows(reads, keeps=options.late == "keep" and not self.has_upstream)
        ties_wait = len(reads.order) > 1 and not batches_apart
        self.reorder = ReorderBuffer(
            None if self.has_upstream else options.lateness, ties_wait, self._too_late if self.has_upstream else self.late.add
        )
        self.batch_order = BatchOrder(reads)
        self.position = 0
        self.rows_in = 0
        self.latest: int | None = None  # the time of the last row, where rows come in order
        self.source_watermarks = np.full(max(len(reads.sources), 1), NEVER)
        outside = [number for number, source in enumerate(reads.sources) if source.operator < 0] if self.has_upstream else []
        self.before = {number: ReorderBuffer(options.lateness, False, self.late.add) for number in outside}
        self.since_sweep = 0
        self._ordered = options.ordered and not self.has_upstream
        self._key_names = reads.key_names
        self._plain = PlainRows()
        self._reader = ColumnReader(reads)
        self._intake = Intake(reads, self.stored, self.pool)
        self._arrival_check = ArrivalCheck(())
        self._refuse: Refuse = _raised
        self._by_time = is_by_time(reads)
        self._takes_nulls = reads.null_keys != "never"
        self._in_moments = any(pattern.decides_moments for pattern in patterns)
        if self._in_moments:
            self.rows.arena.workers = self.workers
        self._nulls_allowed = not any(pattern.is_timed for pattern in patterns)  # of times, where rows are in order anyway

    def read_by(self, patterns: Sequence[Pattern], refuse: Refuse) -> None:
        """These read it from now on; `refuse` is called with those of them that cannot compute something of rows that come."""
        self._arrival_check = ArrivalCheck(patterns)
        self._refuse = refuse

    @property
    def key_count(self) -> int:
        """Partitions that are known now."""
        return len(self.keys) if self.keys is not None else 1

    holds_back = False  # rows that may be evaluated now, but are too many for one time

    def parts(self, touched: np.ndarray) -> Iterator[np.ndarray]:
        """The keys that have got rows, then those that get the rows that are held back: to be evaluated one after the other."""
        yield touched

    @property
    def has_begun(self) -> bool:
        """Whether rows have come."""
        return self.position > 0 or self.reorder.waiting_rows > 0 or self.reorder.watermark > NEVER or self.late.count > 0

    @property
    def waiting_bytes(self) -> int:
        """Of rows that wait for their turn, or to be taken as late ones."""
        before = sum(buffer.bytes for buffer in self.before.values()) if self.before else 0
        return self.reorder.bytes + self.late.bytes + before

    @property
    def watermark(self) -> int:
        """No row with a smaller time will come any more."""
        if self._ordered:
            return NEVER if self.latest is None else self.latest
        return self.reorder.watermark

    def push(self, given: Any, source: int | None = None) -> np.ndarray:
        """Take rows in, of one of the sources where there are several (None: they have the input's columns already). Returns the keys that
        have got rows that may be evaluated now."""
        batch = self._plain.of(given)
        if source is not None and self.reads.sources:
            table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
            batch = in_form(table, self.reads.sources[source], self.reads.columns) if self.reads.sources[source].columns else table
        if batch.num_rows == 0:
            self._reader.read(batch)  # a wrong schema is an error also without rows
            return NO_KEYS
        touched = self._take_in(batch, source)
        if source is None or not self.has_upstream or source in self.before:  # those of operators were counted where they came in
            self.rows_in += batch.num_rows
        return touched

    def _take_in(self, batch: Any, source: int | None) -> np.ndarray:
        if self._ordered:
            return self._process([batch], presorted=True)
        columns = self._reader.read(batch)
        if self.reads.time < 0:
            self.batch_order.check(batch)
            return self._store(columns, None)
        times = times_of(columns, self.reads, nulls_allowed=False)
        assert times is not None
        if not self.reorder.waits and (self.reorder.watermark == NEVER or times.least >= self.reorder.watermark):
            self.reorder.watermark = max(self.reorder.watermark, int(times.greatest))
            return self._store(columns, times)
        self._check_arrived(columns, times.values, self.reorder if source is None else self.before.get(source, self.reorder))
        table = flattened(batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch]), self.reads.columns)
        if source in self.before:
            assert source is not None
            return self._released(source, self.before[source].add(table, times.values))
        return self._process(self.reorder.add(table, times.values))

    def read_with(self, texts: CodedTexts | None) -> None:
        """What other inputs have read of the same batch."""
        self._reader.texts = texts

    def advance(self, watermark: int) -> np.ndarray:
        """No row from outside with a smaller time will come any more."""
        return self.advance_sources(dict.fromkeys(self.before if self.has_upstream else [None], watermark))

    def advance_sources(self, watermarks: Mapping[int | None, int]) -> np.ndarray:
        """The same for each of the sources from outside; one that is not told of has not gone on."""
        touched = [self._released(place, buffer.advance(watermarks.get(place, NEVER))) for place, buffer in self.before.items()]
        if not self.has_upstream:
            touched.append(self._process(self.reorder.advance(min(watermarks.values()))))
        return np.unique(np.concatenate(touched)) if len(touched) > 1 else touched[0] if touched else NO_KEYS

    def flush(self) -> np.ndarray:
        """No row will come any more, from anywhere."""
        for buffer in self.before.values():
            for table in buffer.flush():
                self._wait(table)
        if self._in_moments:  # what waited is decided in the order of time
            self.reorder.watermark = max(self.reorder.watermark, self.reorder.greatest)
        return self._process(self.reorder.flush())

    def tell(self, source: int, watermark: int) -> np.ndarray:
        """One of several sources has come so far; all of them together as far as the last of them."""
        self.source_watermarks[source] = max(int(self.source_watermarks[source]), watermark)
        least = int(self.source_watermarks.min())
        return self._process(self.reorder.advance(least)) if least > self.reorder.watermark else NO_KEYS

    def _released(self, source: int, tables: list[pa.Table]) -> np.ndarray:
        """Rows of a source from outside that are in order now wait for the other sources."""
        for table in tables:
            self._wait(table)
        return self.tell(source, self.before[source].watermark)

    def _wait(self, table: pa.Table) -> None:
        times = times_of(self._reader.read(table), self.reads, nulls_allowed=False)
        assert times is not None
        self.reorder.add(table, times.values)

    def _too_late(self, rows: pa.Table, watermarks: np.ndarray) -> None:
        raise StateError(
            f"{rows.num_rows} events of the streams that {self.reads.stream!r} reads are older than was declared for them",
            detail=f"the watermark is {int(watermarks.max())}",
            hint="this is an error of Ostinato: please report it with the query",
        )

    def _check_arrived(self, columns: dict[str, Vector], times: np.ndarray, buffer: ReorderBuffer) -> None:
        """Of rows that are late, or in no partition, nothing is computed later either; others are looked at now if they may wait."""
        if not self._arrival_check or not self.reorder.waits:
            return
        chosen, _ = self._selected(columns, np.flatnonzero(times >= buffer.watermark))
        assert chosen is not None
        if len(chosen) < len(times):
            columns = {name: take(vector, chosen) for name, vector in columns.items()}
        for place, error in self._arrival_check.failing(columns, len(chosen)):
            self._refuse(place, error)

    def _process(self, batches: list[Any], presorted: bool = False) -> np.ndarray:
        if not batches:
            return NO_KEYS
        batch = batches[0] if len(batches) == 1 else pa.concat_tables(batches)
        columns = self._reader.read(batch)
        times = times_of(columns, self.reads, nulls_allowed=presorted and self._nulls_allowed, presorted=presorted)
        return self._store(columns, times, presorted)

    def _store(self, columns: Mapping[str, Vector], event_times: EventTimes | None, presorted: bool = False) -> np.ndarray:
        count = len(next(iter(columns.values())).data) if columns else 0
        in_order = presorted or (self._by_time and event_times is not None and event_times.ascending)
        order = None if in_order else sort_order(dict(columns), self.reads, event_times)
        times = None if event_times is None else event_times.values
        if presorted and times is not None and count:
            self.latest = int(times[-1])
        positions = np.arange(self.position, self.position + count) if self._positioned else None
        self.position += count
        self.since_sweep += count
        chosen, ranks = (order, None) if self._takes_nulls else self._selected(columns, order)
        if chosen is not None:
            columns = {name: take(vector, chosen) for name, vector in columns.items()}
            times = None if times is None else times[chosen]
            count = len(chosen)
            if positions is not None and ranks is not None:
                positions = positions[ranks]  # rows that are left out count, however batches are cut
        return self._append(columns, count, times, positions)

    def _append(self, columns: Mapping[str, Vector], count: int, times: np.ndarray | None, positions: np.ndarray | None) -> np.ndarray:
        """Store rows that are in order; returns the keys that have got some."""
        return self._intake.append(self.rows, self.keys, columns, count, times, positions)

    def _selected(self, columns: Mapping[str, Vector], order: np.ndarray | None) -> tuple[np.ndarray | None, np.ndarray | None]:
        """The rows to process, in order (None: all as they are), and their ranks among all rows in order (None: they are all).
        A null in an equivalence test is in no partition."""
        if self.reads.null_keys != "never":
            return order, None
        keep = None
        for name in self._key_names:
            valid = columns[name].valid
            if valid is not None and not valid.all():
                keep = valid if keep is None else keep & valid
        if keep is None:
            return order, None
        ranks = np.flatnonzero(keep if order is None else keep[order])
        return (ranks if order is None else order[ranks]), ranks


def _raised(place: int, error: OstinatoError) -> None:
    raise error
