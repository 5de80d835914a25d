"""Rows that are read in batches and may be more than memory holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import duckdb
import pyarrow as pa

from ostinato.base.errors import DataError
from ostinato.hosts.confined.process import ConfinedDuckDB
from ostinato.hosts.embedded.connection import open_connection, relation
from ostinato.hosts.embedded.duckdb_detour import arrived, travelling
from ostinato.hosts.embedded.duckdb_error import translated
from ostinato.hosts.embedded.sources.row_order import are_in_order, order_columns, quoted, sorting_query
from ostinato.hosts.embedded.sources.source import BATCH_ROWS, Source, columns_of, in_tables
from ostinato.program.input import Column, Input
from ostinato.runtime.rows.ingest import MissingTimeError, missing_time
from ostinato.runtime.rows.struct_fields import flattened, sources_of

ReaderOf = Callable[[Sequence[str]], pa.RecordBatchReader]


class StreamSource(Source):
    """`reader_of` gives a reader of some columns. `cheap_to_reopen`: reading the order columns first, to see whether the rows are in order
    already, costs less than sorting."""

    def __init__(self, name: str, schema: pa.Schema, reader_of: ReaderOf, *, cheap_to_reopen: bool, can_be_reread: bool = True) -> None:
        self.name = name
        self.schema = schema
        self.cheap_to_reopen = cheap_to_reopen
        self.can_be_reread = can_be_reread
        self._reader_of = reader_of

    def ordered(self, reads: Input) -> Iterator[pa.Table]:
        if not reads.order or (self.cheap_to_reopen and are_in_order(self._read(order_columns(reads)), reads)):
            yield from self.arriving(reads)
        else:
            yield from self.sorted(reads)

    def arriving(self, reads: Input) -> Iterator[pa.Table]:
        yield from self._read(reads.columns)

    def sorted(self, reads: Input) -> Iterator[pa.Table]:
        """Sorted by DuckDB, which spills to disk what memory does not hold."""
        with open_connection() as connection, self.readable():
            connection.register("rows", travelling(self._reader_of(columns_of(reads))))
            reader = relation(connection, sorting_query("rows", reads)).to_arrow_reader(BATCH_ROWS)
            for table in in_tables(reader, reader.schema):
                yield arrived(table, self.schema, reads.columns)

    def make_view(self, connection: duckdb.DuckDBPyConnection) -> None:
        """A reader can be read once, a view many times: the rows become a temporary table, which spills."""
        with self.readable():
            connection.register("__ostinato_rows", self._reader_of(self.schema.names))
            connection.execute(f"CREATE TEMP TABLE {quoted(self.name)} AS FROM __ostinato_rows")
            connection.unregister("__ostinato_rows")

    def lend(self, confined: ConfinedDuckDB) -> None:
        with self.readable():
            confined.register(self.name, self._reader_of(self.schema.names))

    def missing_time(self, reads: Input) -> MissingTimeError:
        if self.can_be_reread:
            return super().missing_time(reads)
        return missing_time(reads.columns[reads.time].name, self.name)

    def readable(self) -> Readable:
        return Readable(self.name)

    def _read(self, columns: Sequence[Column]) -> Iterator[pa.Table]:
        with self.readable():
            reader = self._reader_of(sources_of(columns))
            for table in in_tables(reader, reader.schema):
                yield flattened(table, columns)


class Readable:
    """Failures of reading become errors that name the stream."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, duckdb.Error):
            cause = translated(error)
            raise DataError(f"Stream `{self.name}` cannot be read: {cause.message}", detail=cause.hint) from error
        if isinstance(error, pa.ArrowException | OSError) or _is_of_polars(error):
            first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            hint = "Is the file complete, and of the kind its name says?"
            raise DataError(f"Stream `{self.name}` cannot be read: {first}", hint=hint) from error


def _is_of_polars(error: BaseException | None) -> bool:
    return type(error).__module__.partition(".")[0] == "polars"
