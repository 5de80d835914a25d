"""SQL with MATCH_RECOGNIZE in this process: our engine runs the clauses, DuckDB the SQL around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb
import pyarrow as pa

from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.compiler import compile_clause
from ostinato.hosts.embedded.connection import open_connection, relation
from ostinato.hosts.embedded.duckdb_detour import with_durations, with_intervals
from ostinato.hosts.embedded.duckdb_error import translated
from ostinato.hosts.embedded.inputs import sources_of
from ostinato.hosts.embedded.query_source import QuerySource
from ostinato.hosts.embedded.result import Result
from ostinato.hosts.embedded.run_query import add_counts, run_query
from ostinato.hosts.embedded.source import Source
from ostinato.hosts.given_streams import check_options, named_streams
from ostinato.lang.sql import Clause, Cut, Spliced, cut
from ostinato.lang.sql.statement import read_statement

DUCKDB = "duckdb"


def sql(text: str, /, *unnamed: object, dialect: str = DUCKDB, streams: Mapping[str, Any] | None = None, **named: Any) -> Result:
    """Run a SELECT statement over tables, given by the names that the statement uses: `ticks=...`, or in the mapping `streams`.

    >>> import pyarrow as pa
    >>> ticks = pa.table({"ts": [1, 2, 3], "price": [10.0, 9.0, 12.0]})
    >>> found = sql('''SELECT * FROM ticks MATCH_RECOGNIZE (
    ...     ORDER BY ts MEASURES FIRST(A.ts) AS since, B.price AS price
    ...     PATTERN (A B) DEFINE B AS price > PREV(price))''', ticks=ticks)
    >>> found.to_arrow().to_pylist()
    [{'since': 2, 'price': 12.0}]
    """
    check_options(dialect=dialect)
    given = named_streams(unnamed, streams, named)
    try:
        statement = _Statement(cut(text, dialect), sources_of(given))
        table = statement.bare()
        if table is None:
            table = statement.run(dialect)
        return Result(table, statement.metrics)
    except OstinatoError as error:
        raise error.within(text) from error.__cause__


class _Statement:
    def __init__(self, statement: Cut, sources: dict[str, Source]) -> None:
        self.cut = statement
        self.sources = sources
        self.metrics: dict[str, int] = {}

    def bare(self) -> pa.Table | None:
        """The matches, where nothing is left for DuckDB to do."""
        source = self._given(self.cut.clauses[0]) if self.cut.bare else None
        return None if source is None else self._matches(self.cut.clauses[0], source)

    def run(self, dialect: str) -> pa.Table:
        if dialect.lower() != DUCKDB:
            raise UnsupportedError(
                f"The SQL around MATCH_RECOGNIZE runs in DuckDB, not in {dialect}",
                hint="Write it in DuckDB's SQL, or run it where its dialect is at home: ost.on(spark).sql(...)",
            )
        with open_connection() as connection:
            self._make_views(connection)
            for clause in self.cut.clauses:
                source = self._given(clause) or self._queried(clause, connection)
                connection.register(clause.placeholder, with_intervals(self._matches(clause, source)))
            return self._outer(connection)

    def _given(self, clause: Clause) -> Source | None:
        return None if clause.table is None else self.sources.get(clause.table.lower())

    def _queried(self, clause: Clause, connection: duckdb.DuckDBPyConnection) -> Source:
        return QuerySource(clause.table or "the input", connection, clause.input, self.cut.clauses, tuple(self.sources))

    def _matches(self, clause: Clause, source: Source) -> pa.Table:
        query = compile_clause(clause, self.cut.text, source.schema, source.name)
        table, metrics = run_query(query, source)
        add_counts(self.metrics, metrics)
        return table

    def _make_views(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Only of what DuckDB is asked to read: a reader, read here, would be missing there."""
        queries = [self.cut.outer, *(clause.input for clause in self.cut.clauses if self._given(clause) is None)]
        named = {word.value.lower() for query in queries for word in read_statement(query.text, DUCKDB).words if word.is_identifier}
        for name, source in self.sources.items():
            if name in named:
                source.make_view(connection)

    def _outer(self, connection: duckdb.DuckDBPyConnection) -> pa.Table:
        outer = self.cut.outer
        try:
            check_is_query(connection, outer)
            return with_durations(relation(connection, outer.text).to_arrow_table())
        except duckdb.Error as error:
            raise translated(error, outer, self.cut.clauses, tuple(self.sources)) from error


def check_is_query(connection: duckdb.DuckDBPyConnection, outer: Spliced) -> None:
    statements = connection.extract_statements(outer.text)
    if len(statements) != 1 or statements[0].type not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        first = read_statement(outer.text, DUCKDB).words[0]
        raise QuerySyntaxError(
            f"{first.upper} is no query",
            hint="Write SELECT ...; store its result with to_arrow(), to_pandas() or to_polars()",
            span=first.span,
        )
