"""Rows that a SQL query gives: the input of a clause that is a subquery, a common table expression or DuckDB's own table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import duckdb
import pyarrow as pa

from ostinato.base.errors import OstinatoError
from ostinato.base.span import Span
from ostinato.hosts.confined.process import ConfinedDuckDB
from ostinato.hosts.embedded.connection import Connection, relation
from ostinato.hosts.embedded.duckdb_error import translated
from ostinato.hosts.embedded.sources.row_order import quoted, sorting_query
from ostinato.hosts.embedded.sources.source import BATCH_ROWS, Source, columns_of, in_tables
from ostinato.lang.sql import Clause, Spliced
from ostinato.lang.sql.splice import insert
from ostinato.program.input import Input
from ostinato.runtime.rows.struct_fields import flattened


class QuerySource(Source):
    """A query is run once: it may cost anything, so its rows are sorted without looking first."""

    def __init__(
        self,
        name: str,
        connection: Connection,
        query: Spliced,
        clauses: tuple[Clause, ...] = (),
        tables: tuple[str, ...] = (),
    ) -> None:
        """`clauses` and `tables` are those of the whole statement, for what is said about errors."""
        self.name = name
        self.connection = connection
        self.query = query
        self.clauses = clauses
        self.tables = tables
        try:
            self.schema = relation(connection, self._around("FROM (", ") LIMIT 0").text).to_arrow_table().schema
        except duckdb.Error as error:
            raise self._translated(error, self._around("FROM (", ") LIMIT 0")) from error

    def ordered(self, reads: Input) -> Iterator[pa.Table]:
        if not reads.order:
            return self.arriving(reads)
        before, after = sorting_query("(\n)", reads).split("\n")
        return self._rows(self._around(before, after), reads)

    def arriving(self, reads: Input) -> Iterator[pa.Table]:
        return self._rows(self._around(f"SELECT {_listed(columns_of(reads))} FROM (", ")"), reads)

    def make_view(self, connection: duckdb.DuckDBPyConnection) -> None:
        connection.execute(f"CREATE TEMP VIEW {quoted(self.name)} AS {self.query.text}")

    def lend(self, confined: ConfinedDuckDB) -> None:
        confined.register(self.name, relation(self.connection, self.query.text).to_arrow_table())

    def _rows(self, query: Spliced, reads: Input) -> Iterator[pa.Table]:
        try:
            reader = relation(self.connection, query.text).to_arrow_reader(BATCH_ROWS)
            for table in in_tables(reader, reader.schema):
                yield flattened(table, reads.columns)
        except duckdb.Error as error:
            raise self._translated(error, query) from error

    def _translated(self, error: duckdb.Error, query: Spliced) -> OstinatoError:
        return translated(error, query, self.clauses, self.tables)

    def _around(self, before: str, after: str) -> Spliced:
        origin = self.query.pieces[0].origin if self.query.pieces else Span(0, 0)
        return insert(before, origin) + self.query + insert(after, origin)


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(map(quoted, columns)) or "1"
