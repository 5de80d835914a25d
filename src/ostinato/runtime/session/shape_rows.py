"""The rows of queries of one shape: those of a stream, each once for every query that it may concern, with the constants of the query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ostinato.expr.types import INT
from ostinato.kernels.vectors.vector import Vector
from ostinato.program.analysis.concerned_rows import concerned_rows
from ostinato.program.expansion import PARAMETER, QUERY, expanded_input
from ostinato.program.input import Column, Input
from ostinato.program.pattern import Pattern
from ostinato.runtime.matcher import Matcher
from ostinato.runtime.queries.query_table import table_of
from ostinato.runtime.rows.column_reader import ColumnReader
from ostinato.runtime.rows.ingest import take
from ostinato.runtime.rows.key_index import KeyIndex
from ostinato.runtime.rows.late_rows import LateRows
from ostinato.runtime.rows.stream_form import in_form
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.session.input_rows import NO_KEYS, InputRows, Refuse
from ostinato.runtime.session.session_options import SessionOptions

if TYPE_CHECKING:
    from ostinato.runtime.queries.query_index import QueryIndex
    from ostinato.runtime.session.pattern_operator import PatternOperator

ARRIVAL = f"{PARAMETER}arrival"  # when a row came, counted in changes of the set
MOST_PARTITIONS = 1 << 16  # that are numbered although nothing is begun there
NO_NUMBERS = np.zeros(0, np.int64)
ALL_ROWS = 1 << 62


@dataclass(frozen=True)
class HeldRows:
    """Rows in order that come after those that are evaluated now; `watermark` is that of the input behind them."""

    columns: Mapping[str, Vector]
    times: np.ndarray | None
    positions: np.ndarray | None
    count: int
    watermark: int


class ShapeRows(InputRows):
    """`reads` is the stream's input with the table of constants; `pattern` is the expanded one. A row for a query is a row of a partition:
    the number of the query, then its own keys."""

    def __init__(
        self, reads: Input, pattern: Pattern, options: SessionOptions, *, batches_apart: bool, without: frozenset[str] = frozenset()
    ) -> None:
        super().__init__(expanded_input(reads), [pattern], options, batches_apart=batches_apart)
        self.shape = reads.shape
        self._given = reads.columns
        self.reads = replace(reads, columns=(*reads.columns, Column(ARRIVAL, INT)), queries=b"")
        self._reader = ColumnReader(self.reads)
        self._key_names = reads.key_names
        self.late = LateRows(reads, keeps=options.late == "keep")
        self.reorder.too_late_to(self.late.add)
        self.queries = table_of(reads.queries, reads.parameters)
        indexes = import_module("ostinato.runtime.queries.query_index")  # with its kernels, which a session without shapes does not compile
        self.index: QueryIndex = indexes.QueryIndex(concerned_rows(pattern), pattern.rows, self.queries, "query_index" not in without)
        self.matcher: Matcher | None = None  # of the one pattern that reads it
        self._shows_places = pattern.measures.code is None
        self.arrival = 0
        self.has_seen = False  # whether rows have come since queries were added
        self._own_types = tuple(reads.columns[key].type for key in reads.keys)
        self._own = KeyIndex(self._own_types, StringPool()) if reads.keys else None
        self._numbered: KeyIndex | None = None  # the keys as they were numbered when `_fed` was written
        self._fed = NO_KEYS  # those in which something may be begun
        self.pairs = 0
        self._held: HeldRows | None = None
        self._at_a_time = ALL_ROWS  # rows whose pairs are few enough, as far as the last ones tell

    @property
    def takes_newcomers(self) -> bool:
        """Where whole events are shown, with their places, those that came before a query must not stand among those that it sees."""
        return not (self._shows_places and self.reorder.waiting_rows)

    def add(self, queries: Sequence[str], constants: Sequence[tuple[Any, ...]]) -> None:
        """Queries that see the rows that come from now on."""
        if self.has_seen:
            self.arrival += 1
            self.has_seen = False
        self.queries.add_all(queries, constants, self.arrival, self.position)

    def read_by(self, patterns: Sequence[Pattern], refuse: Refuse) -> None:
        """Rows are not looked at when they come, since nothing that is computed of them can fail; nor have they constants yet."""

    def push(self, given: Any, source: int | None = None) -> np.ndarray:
        batch = self._plain.of(given)
        if source is not None and self.reads.sources:
            table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
            batch = in_form(table, self.reads.sources[source], self._given) if self.reads.sources[source].columns else table
        self.has_seen = self.has_seen or batch.num_rows > 0
        arrivals = pa.repeat(pa.scalar(self.arrival, pa.int64()), batch.num_rows)
        if isinstance(batch, pa.Table):
            return super().push(batch.append_column(ARRIVAL, arrivals))
        return super().push(pa.RecordBatch.from_arrays([*batch.columns, arrivals], names=[*batch.schema.names, ARRIVAL]))

    def parts(self, touched: np.ndarray) -> Iterator[np.ndarray]:
        yield touched
        while (held := self._held) is not None:
            self._held, self.holds_back = None, False
            self.reorder.watermark = held.watermark
            yield self._append(held.columns, held.count, held.times, held.positions)

    def _hold_back(
        self, behind: int, columns: Mapping[str, Vector], count: int, times: np.ndarray | None, positions: np.ndarray | None
    ) -> None:
        """All rows from `behind` on: until they come, time has passed up to the first of them and no further."""
        given = _cut(slice(behind, None), columns, times, positions)
        self._held, self.holds_back = HeldRows(*given, count - behind, self.reorder.watermark), True
        if times is not None:
            self.reorder.watermark = min(self.reorder.watermark, int(times[behind]))

    def _append(self, columns: Mapping[str, Vector], count: int, times: np.ndarray | None, positions: np.ndarray | None) -> np.ndarray:
        """Of rows that concern very many queries no more at a time than there is room for: the others are held back."""
        taken = min(count, self._at_a_time)
        given = (columns, times, positions) if taken == count else _cut(slice(taken), columns, times, positions)
        keys, taken = self._joined(*given, taken)
        self._at_a_time = min(2 * self._at_a_time, ALL_ROWS) if taken == min(count, self._at_a_time) else max(taken, 1)
        if taken < count:
            self._hold_back(taken, columns, count, times, positions)
        return keys

    def _joined(
        self, columns: Mapping[str, Vector], times: np.ndarray | None, positions: np.ndarray | None, count: int
    ) -> tuple[np.ndarray, int]:
        """Rows with the queries that they may concern; returns the keys that have got some, and how many of the rows they are."""
        begun = self._begun()
        chosen = self._looked_at(columns, count, begun[0]) if count else NO_NUMBERS
        given = count
        if chosen is not None:
            columns, count = {name: take(vector, chosen) for name, vector in columns.items()}, len(chosen)
            times, positions = (None if one is None else one[chosen] for one in (times, positions))
        if not count:
            return NO_KEYS, given
        arrived = np.ascontiguousarray(columns[ARRIVAL].data) if self.arrival else NO_NUMBERS
        own, partitions = self._partitions(columns, count)
        events, queries, done = self.index.pairs(columns, count, arrived, own, partitions, begun)
        taken = given if done == count else done if chosen is None else int(chosen[done])
        if not len(events):
            return NO_KEYS, taken
        self.pairs += len(events)
        joined = {name: take(vector, events) for name, vector in columns.items() if name != ARRIVAL}
        joined |= {column.name: self.queries.column(n, queries) for n, column in enumerate(self.queries.parameters)}
        joined[QUERY] = Vector(INT, queries)
        times = None if times is None else times[events]
        keys = super()._append(joined, len(events), times, None if positions is None else positions[events])
        self._fed = keys if not len(self._fed) else np.union1d(self._fed, keys)
        return keys, taken

    def _looked_at(self, columns: Mapping[str, Vector], count: int, begun: np.ndarray) -> np.ndarray | None:
        """The events that are not known at once to concern nobody; None: that is not known of any."""
        wanted = self.index.wanted(columns, count)
        if wanted is None:
            return None
        if self.index.follows and (len(begun) or wanted.any()):
            if self._own is None:
                return None
            own, partitions = self._partitions(columns, count)
            busy = np.zeros(partitions, np.bool_)
            busy[begun] = True
            busy[own[wanted]] = True
            wanted = busy[own]
        return None if 2 * np.count_nonzero(wanted) > count else np.flatnonzero(wanted)

    def _partitions(self, columns: Mapping[str, Vector], count: int) -> tuple[np.ndarray, int]:
        """The partition of every event, and how many there are."""
        if self._own is None or not self.index.follows:
            return np.zeros(count, np.int64), 1
        own = np.ascontiguousarray(self._own.number([columns[name] for name in self._key_names]))
        return own, len(self._own)

    def _begun(self) -> tuple[np.ndarray, np.ndarray]:
        """Partitions in which queries have begun something, and these queries."""
        begun = self._begun_keys() if self.index.follows else NO_KEYS
        if not len(begun):
            self._forget_partitions()
            return NO_NUMBERS, NO_NUMBERS
        assert self.keys is not None
        queries = np.ascontiguousarray(self.keys.values(0, begun).data)
        if self._own is None:
            return np.zeros(len(begun), np.int64), queries
        self._forget_partitions()
        own = self._own.number([self.keys.values(n + 1, begun) for n in range(len(self._own_types))])
        return np.ascontiguousarray(own), queries

    def busy_keys(self) -> np.ndarray:
        """How many partitions each query has begun something in, by their numbers."""
        begun = self._begun_keys()
        held = np.ascontiguousarray(self.keys.values(0, begun).data) if self.keys is not None and len(begun) else NO_NUMBERS
        return np.bincount(held, minlength=len(self.queries))

    def _forget_partitions(self) -> None:
        if self._own is not None and len(self._own) > MOST_PARTITIONS:
            self._own = KeyIndex(self._own_types, StringPool())

    def _begun_keys(self) -> np.ndarray:
        assert self.matcher is not None and self.keys is not None
        if self._numbered is not self.keys:
            self._numbered, self._fed = self.keys, np.arange(len(self.keys))
        if len(self._fed):
            self._fed = self._fed[~self.matcher.idle(self._fed)]
        return self._fed


def kept_rows(names: Sequence[str], before: Mapping[str, tuple[PatternOperator, InputRows]]) -> InputRows | None:
    """The rows that an input of a changed program goes on with, by the names of the operators that read it."""
    known = [before[name][1] for name in names if name in before]
    return known[0] if known and (known[0].has_begun or isinstance(known[0], ShapeRows)) else None


def _cut(
    rows: slice, columns: Mapping[str, Vector], times: np.ndarray | None, positions: np.ndarray | None
) -> tuple[Mapping[str, Vector], np.ndarray | None, np.ndarray | None]:
    cut = {name: take(vector, rows) for name, vector in columns.items()}
    return cut, None if times is None else times[rows], None if positions is None else positions[rows]
