"""What the embedded host reads from: something with an Arrow schema that yields batches of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ostinato.hosts.confined.process import ConfinedDuckDB
from ostinato.program.input import Input
from ostinato.runtime.rows.ingest import MissingTimeError, missing_time
from ostinato.runtime.rows.struct_fields import sources_of

# Rows given to a session at once. Every batch costs each of its keys a little: over 100,000 keys, batches of 128 k rows took four times
# as long as one of 2 M. What lies in memory anyway is given in larger pieces.
BATCH_ROWS = 1 << 21
TABLE_ROWS = 1 << 24


class RowSource(ABC):
    """Rows for one program."""

    @abstractmethod
    def ordered(self, reads: Input) -> Iterator[pa.Table]:
        """The columns that the program reads, with the rows in its order; rows that tie keep the order of the input."""

    @abstractmethod
    def arriving(self, reads: Input) -> Iterator[pa.Table]:
        """The columns that the program reads, with the rows as they come."""

    @abstractmethod
    def missing_time(self, reads: Input) -> MissingTimeError:
        """The error that names the first row without a time, as the rows were given."""


class Source(RowSource):
    """The rows of one stream. `name` is what the query calls it."""

    name: str
    schema: pa.Schema

    def missing_time(self, reads: Input) -> MissingTimeError:
        column = reads.columns[reads.time]
        only_time = replace(reads, columns=(column,), time=0, order=())
        rows = 0
        for table in self.arriving(only_time):
            null = pc.is_null(table.column(column.name)).to_numpy()
            if null.any():
                return missing_time(column.name, self.name, f" (row {rows + int(np.argmax(null))}, counted from 0)")
            rows += table.num_rows
        return missing_time(column.name, self.name)

    @abstractmethod
    def make_view(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make the rows known to DuckDB under the stream's name."""

    @abstractmethod
    def lend(self, confined: ConfinedDuckDB) -> None:
        """The same to one in a process of its own, which touches no files: the rows are read here."""


def columns_of(reads: Input) -> list[str]:
    """What has to be read for a program."""
    return sources_of(reads.columns)


def in_slices(table: pa.Table, rows: int) -> Iterator[pa.Table]:
    for start in range(0, table.num_rows, rows):
        yield table.slice(start, rows)


def in_tables(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Small batches put together."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= BATCH_ROWS:
            yield from in_slices(pa.Table.from_batches(waiting, schema), BATCH_ROWS)
            waiting, rows = [], 0
    if rows:
        yield pa.Table.from_batches(waiting, schema)
