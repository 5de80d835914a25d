"""Compiling for this process: DuckDB is asked for the columns of the SQL around clauses, without a row of data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cached_property
from typing import Any

import duckdb
import pyarrow as pa

from ostinato.compiler import compile_text, schema_of
from ostinato.hosts.confined.process import ConfinedDuckDB
from ostinato.hosts.embedded.connection import Connection, open_connection, relation
from ostinato.hosts.embedded.duckdb_detour import with_durations, with_intervals
from ostinato.hosts.embedded.duckdb_error import translated
from ostinato.hosts.embedded.query_check import check_is_query
from ostinato.hosts.embedded.sandboxed_sql import check_sandboxed
from ostinato.hosts.embedded.sources.table_source import TableSource
from ostinato.hosts.given_streams import check_options, named_streams
from ostinato.hosts.sandbox import Sandbox, Watch, sandbox_of
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.sql import Spliced, SplitStatement
from ostinato.query import Query

DUCKDB = "duckdb"


def compile(
    text: str,
    /,
    schemas: Mapping[str, Any] | None = None,
    *,
    language: str | None = None,
    type_by: str | None = None,
    time: str | Mapping[str, str] | None = None,
    output: str | None = None,
    ties: str | None = None,
    latency: str | None = None,
    dialect: str = DUCKDB,
    without: tuple[str, ...] = (),
    strategy: str | None = None,
    sandbox: bool | Sandbox = False,
    **named: Any,
) -> Query:
    """A query or a SQL statement, without data: `schemas` are the streams by name, which may be passed as `ticks=...`, too.
    Whatever `ost.match` and `ost.sql` take compiles; a session is opened for what is one query or one clause.

    `time` is the time column of event patterns, or a mapping from streams to theirs. `without` names rewrites to leave out, or "merging"
    (of equivalent runs), `strategy` forces a way to evaluate the query: both are for comparison. `sandbox=True` is for texts of others.
    """
    said: dict[str, Any] = {"type_by": type_by, "time": time, "output": output, "ties": ties, "latency": latency, "strategy": strategy}
    check_options(language=language, dialect=dialect, **said)
    closed = sandbox_of(sandbox, text)
    options = CompileOptions(language, dialect=dialect, without=without, sandboxed=closed is not None, **said)
    schemas = {name: schema_of(name, given) for name, given in named_streams((), schemas, named).items()}
    with ExitStack() as opened:

        def connect() -> Connection:
            if closed is None:
                return opened.enter_context(open_connection())
            return opened.enter_context(ConfinedDuckDB(Watch(closed)))

        host = DuckDBColumns(connect, schemas) if dialect == DUCKDB else None
        return compile_text(text, schemas, options, host)


class DuckDBColumns:
    """The columns of queries over streams of which only the schema is known. Most texts never ask: a connection, which takes several times
    as long as compiling a query, is made for those that do."""

    def __init__(self, connect: Callable[[], Connection], schemas: Mapping[str, pa.Schema]) -> None:
        self.schemas = schemas
        self._connect = connect
        self._unknown = {name: schema.empty_table() for name, schema in schemas.items()}

    @cached_property
    def connection(self) -> Connection:
        return self._connect()

    def add(self, name: str, schema: pa.Schema) -> None:
        self._unknown[name] = with_intervals(schema.empty_table())

    def _make_known(self, name: str, table: pa.Table) -> None:
        source = TableSource(name, table)
        source.make_view(self.connection) if isinstance(self.connection, duckdb.DuckDBPyConnection) else source.lend(self.connection)

    def schema_of(self, query: Spliced, statement: SplitStatement) -> pa.Schema:
        for name, table in self._unknown.items():
            self._make_known(name, table)
        self._unknown.clear()
        try:
            if isinstance(self.connection, duckdb.DuckDBPyConnection):
                check_is_query(self.connection, query)
            else:
                names = (name.lower() for name in (*self.schemas, *(clause.placeholder for clause in statement.clauses)))
                check_sandboxed(self.connection, query, frozenset(names))
            rows = relation(self.connection, query.text)
            return with_durations(rows.limit(0).to_arrow_table()).schema
        except duckdb.Error as error:
            raise translated(error, query, statement.clauses, tuple(self.schemas)).within(statement.text) from error
