"""SQL with MATCH_RECOGNIZE in this process: our engine runs the clauses, DuckDB the SQL around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from ostinato.base.errors import OstinatoError, SandboxError, UnsupportedError
from ostinato.compiler import compile_query
from ostinato.hosts.confined.process import RESULT_ROWS, ConfinedDuckDB
from ostinato.hosts.embedded.arrival import Arrival
from ostinato.hosts.embedded.compile import compile
from ostinato.hosts.embedded.connection import Connection, Rows, open_connection, relation
from ostinato.hosts.embedded.duckdb_detour import with_durations, with_intervals
from ostinato.hosts.embedded.duckdb_error import translated
from ostinato.hosts.embedded.inputs import sources_of
from ostinato.hosts.embedded.query_check import check_is_query
from ostinato.hosts.embedded.result import Result
from ostinato.hosts.embedded.run_query import OneSource, Told, run_query
from ostinato.hosts.embedded.sandboxed_sql import check_sandboxed
from ostinato.hosts.embedded.sources.query_source import QuerySource
from ostinato.hosts.embedded.sources.source import Source
from ostinato.hosts.embedded.sources.timed_rows import TimedRows
from ostinato.hosts.given_streams import check_options, named_streams
from ostinato.hosts.sandbox import Sandbox, Watch, sandbox_of
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.sql import Clause, Spliced, SplitStatement, explained, split_statement
from ostinato.lang.sql.language import SQL, bound_clause
from ostinato.lang.sql.statement import read_statement
from ostinato.runtime.session.given_times import Lateness

DUCKDB = "duckdb"


def sql(
    text: str,
    /,
    *unnamed: object,
    dialect: str = DUCKDB,
    lateness: Lateness | None = None,
    late: str | None = None,
    sandbox: bool | Sandbox = False,
    streams: Mapping[str, Any] | None = None,
    **named: Any,
) -> Result:
    """Run a SELECT statement over tables, given by the names that the statement uses: `ticks=...`, or in the mapping `streams`.
    `lateness` and `late` are those of `match`, for what the clauses read.
    `sandbox=True` is for texts of others: no more than the named tables is read, and time and memory are limited (`ost.Sandbox`).

    >>> import pyarrow as pa
    >>> ticks = pa.table({"ts": [1, 2, 3], "price": [10.0, 9.0, 12.0]})
    >>> found = sql('''SELECT * FROM ticks MATCH_RECOGNIZE (
    ...     ORDER BY ts MEASURES FIRST(A.ts) AS since, B.price AS price
    ...     PATTERN (A B) DEFINE B AS price > PREV(price))''', ticks=ticks)
    >>> found.to_arrow().to_pylist()
    [{'since': 2, 'price': 12.0}]
    """
    check_options(dialect=dialect, lateness=lateness, late=late)
    arrival = Arrival(lateness, late)
    given = named_streams(unnamed, streams, named)
    closed = sandbox_of(sandbox, text)
    watch = None if closed is None else Watch(closed)
    to_explain = explained(text)
    if to_explain is not None:
        schemas = {source.name: source.schema for source in sources_of(given).values()}
        plan = compile(to_explain, schemas, language=SQL.name, dialect=dialect, sandbox=sandbox).explain()
        return Result(pa.table({"plan": plan.splitlines()}))
    try:
        statement = _Statement(split_statement(text, dialect), sources_of(given), watch, arrival)
        table = statement.bare()
        if table is None:
            table = statement.run(dialect)
        return Result(table, statement.told.metrics, statement.told.late)
    except OstinatoError as error:
        if watch is not None and watch.is_over and not isinstance(error, SandboxError):
            raise watch.too_late().within(text) from error
        raise error.within(text) from error.__cause__


class _Statement:
    def __init__(self, statement: SplitStatement, sources: dict[str, Source], watch: Watch | None, arrival: Arrival) -> None:
        """`watch` is that of the sandbox, if the text runs in one."""
        self.statement = statement
        self.sources = sources
        self.watch = watch
        self.arrival = arrival
        self.told = Told()
        if not statement.bare:
            arrival.refuse_kept("by SQL around a pattern", "write SELECT * FROM stream MATCH_RECOGNIZE (...) and go on with the result")
        if not statement.clauses and arrival.lateness is not None:
            raise OstinatoError(
                "lateness= is for what a clause MATCH_RECOGNIZE or SITUATIONS OF reads, and there is none", hint="Leave it out"
            )

    def bare(self) -> pa.Table | None:
        """The matches, where nothing is left for DuckDB to do."""
        source = self._given(self.statement.clauses[0]) if self.statement.bare else None
        return None if source is None else self._matches(self.statement.clauses[0], source)

    def run(self, dialect: str) -> pa.Table:
        if dialect.lower() != DUCKDB:
            raise UnsupportedError(
                f"The SQL around the clauses runs in DuckDB, not in {dialect}",
                hint="Write it in DuckDB's SQL, or run it where its dialect is at home: ost.on(spark).sql(...)",
            )
        with self._connected() as connection:
            for clause in self.statement.clauses:
                source = self._given(clause) or self._queried(clause, connection)
                connection.register(clause.placeholder, with_intervals(self._matches(clause, source)))
            return self._outer(connection)

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        if self.watch is None:
            with open_connection() as connection:
                for source in self._read_by_duckdb():
                    source.make_view(connection)
                yield connection
            return
        with ConfinedDuckDB(self.watch) as confined:
            for source in self._read_by_duckdb():
                source.lend(confined)
            yield confined

    def _given(self, clause: Clause) -> Source | None:
        return None if clause.table is None else self.sources.get(clause.table.lower())

    def _queried(self, clause: Clause, connection: Connection) -> Source:
        self._check(clause.input, connection)
        return QuerySource(clause.table or "the input", connection, clause.input, self.statement.clauses, tuple(self.sources))

    def _check(self, query: Spliced, connection: Connection) -> None:
        try:
            if isinstance(connection, duckdb.DuckDBPyConnection):
                check_is_query(connection, query)
            else:
                placeholders = (clause.placeholder for clause in self.statement.clauses)
                check_sandboxed(connection, query, frozenset((*self.sources, *placeholders)))
        except duckdb.Error as error:
            raise translated(error, query, self.statement.clauses, tuple(self.sources)) from error

    def _matches(self, clause: Clause, source: Source) -> pa.Table:
        bound = bound_clause(self.statement, clause, source.name, source.schema)
        query = compile_query(SQL, bound, self.statement.text, options=CompileOptions(sandboxed=self.watch is not None))
        if self.watch is None:
            return run_query(query, OneSource(source), self.told, self.arrival)
        return run_query(query, OneSource(TimedRows(source, self.watch)), self.told, self.arrival, self.watch.sandbox.budget(None))

    def _read_by_duckdb(self) -> list[Source]:
        """Only what DuckDB is asked to read: a reader, read here, would be missing there. It takes the names of tables in quotes of any
        kind."""
        queries = [self.statement.outer, *(clause.input for clause in self.statement.clauses if self._given(clause) is None)]
        words = (word for query in queries for word in read_statement(query.text, DUCKDB).words)
        named = {word.value.lower() for word in words if word.is_identifier or word.kind == "string"}
        return [source for name, source in self.sources.items() if name in named]

    def _outer(self, connection: Connection) -> pa.Table:
        outer = self.statement.outer
        self._check(outer, connection)
        try:
            rows = relation(connection, outer.text)
            return with_durations(rows.to_arrow_table() if self.watch is None else _kept(rows, self.watch))
        except duckdb.Error as error:
            raise translated(error, outer, self.statement.clauses, tuple(self.sources)) from error


def _kept(rows: Rows, watch: Watch) -> pa.Table:
    """All rows, batch by batch, as long as there is room for them: DuckDB does not count what it gives away."""
    reader = rows.to_arrow_reader(RESULT_ROWS)
    batches = []
    for batch in reader:
        watch.keep(batch)
        batches.append(batch)
    return pa.Table.from_batches(batches, reader.schema)
