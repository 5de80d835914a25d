"""A set of queries over the same streams, evaluated together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from weakref import WeakSet

import pyarrow as pa

from ostinato.base.errors import OstinatoError, SchemaError, UnknownNameError, UnsupportedError
from ostinato.compiler import compile, schema_of
from ostinato.kernels._jit import prepare
from ostinato.program.functions_used import CalledFunctions, functions_of
from ostinato.program.program import Program
from ostinato.program.query_graphs import NO_QUERIES, STEP, with_query
from ostinato.query import Query, lateness_in_units
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.session.given_times import Lateness
from ostinato.runtime.session.session_options import NOT_GIVEN, NotGiven
from ostinato.runtime.session.set_session import SetSession

QUERY_ID = "query_id"


class QuerySet:
    """`schemas` are the streams by name. Queries of any language are added under names of their own, before or while the set runs; those
    that read the same stream in the same order by the same keys share what comes before matching: rows are read, put in order, numbered and
    stored once, and each distinct condition on rows is evaluated once.

    >>> import pyarrow as pa, ostinato as ost
    >>> ticks = pa.table({"ts": [1, 2, 3, 4], "price": [10.0, 12.0, 9.0, 11.0]})
    >>> rules = ost.QuerySet({"ticks": ticks.schema})
    >>> rules.add("rise", "PATTERN SEQ(ticks a, ticks b) WHERE partition_contiguity(a, b) { b.price > a.price } WITHIN 5 RETURN b.ts AS at")
    >>> rules.add("deep", "SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts MEASURES A.price AS price PATTERN (A) DEFINE A AS price < 10)")
    >>> {name: table.to_pylist() for name, table in ost.match_all(rules, ticks=ticks).items()}
    {'rise': [{'at': 2}, {'at': 4}], 'deep': [{'price': 9.0}]}
    """

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        self.schemas = {name: schema_of(name, given) for name, given in schemas.items()}
        self._queries: dict[str, Query] = {}
        self._columns: dict[str, pa.Field] = {}  # what all of them return
        self._called = CalledFunctions()
        self._program: Program | None = None  # of all of them, made when somebody asks for it
        self._sessions: WeakSet[SetSession] = WeakSet()

    def add(self, id: str, text: str, **options: Any) -> None:
        """`options` are those of `ost.compile`. Sessions that are open see it from their next call on."""
        if not isinstance(id, str) or not id or STEP in id or "/" in id:
            raise OstinatoError(f"{id!r} is no name of a query", hint=f"It is a text that is not empty, without {STEP} and /")
        if id in self._queries:
            raise OstinatoError(f"there is a query {id!r} already", hint="Remove it first, or give the new one another name")
        query = compile(text, self.schemas, **options)
        self._check_columns(id, query)
        functions = functions_of(query.program)
        self._called.check(functions)
        for session in self._open_sessions():
            session.add(id, query.program)
        self._queries[id] = query
        self._called.join(id, functions)
        self._program = None
        self._columns |= {field.name: field for field in query.output_schema}

    def remove(self, id: str) -> None:
        """Sessions that are open forget what it had begun."""
        self._known(id)
        for session in self._open_sessions():
            session.remove(id)
        del self._queries[id]
        self._called.leave(id)
        self._program = None
        self._columns = {field.name: field for query in self._queries.values() for field in query.output_schema}

    def _open_sessions(self) -> list[SetSession]:
        return [session for session in self._sessions if not session.closed]

    def _known(self, id: str) -> Query:
        if id not in self._queries:
            raise UnknownNameError(f"there is no query {id!r}", hint=f"There are {', '.join(self._queries) or 'none'}")
        return self._queries[id]

    def _check_columns(self, id: str, query: Query) -> None:
        """Where results of all queries are one table, a name has one type."""
        for field in query.output_schema:
            if field.name == QUERY_ID:
                raise SchemaError(f"query {id!r} returns a column {QUERY_ID}, which tells the queries of a set apart", hint="Rename it")
            known = self._columns.get(field.name)
            if known is not None and known.type != field.type:
                other = next(name for name, query in self._queries.items() if field.name in query.output_schema.names)
                raise SchemaError(
                    f"query {id!r} returns {field.name!r} as {field.type}, query {other!r} as {known.type}",
                    hint="Rename one of them, or cast it: the results of a set can be one table",
                )

    @property
    def output_schema(self) -> pa.Schema:
        """The columns of all results in one table: the name of the query, then theirs."""
        fields = {field.name: field.with_nullable(True) for query in self._queries.values() for field in query.output_schema}
        return pa.schema([pa.field(QUERY_ID, pa.string()), *fields.values()])

    @property
    def program(self) -> Program:
        if self._program is None:
            program = NO_QUERIES
            for id, query in self._queries.items():
                program = with_query(program, id, query.program, range(len(program.inputs)))
            self._program = program
        return self._program

    def __getitem__(self, id: str) -> Query:
        return self._known(id)

    def __contains__(self, id: object) -> bool:
        return id in self._queries

    def __iter__(self) -> Iterator[str]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)

    def open(
        self,
        *,
        budget: Budget | None = None,
        lateness: Lateness | NotGiven | None = NOT_GIVEN,
        ordered: bool | None = None,
        late: str | None = None,
        snapshot: bytes | None = None,
    ) -> SetSession:
        """A session to push batches to, as `Query.open`. Its `push`, `advance` and `close` return a mapping from the names of queries to
        their new matches, of those that have some."""
        if late == "keep" and len(self._queries) > 1:
            raise UnsupportedError("late rows are not kept by a set", hint="they are counted: metrics()['late_rows']")
        program = self.program
        told: dict[str, Any] = {"budget": budget, "lateness": lateness_in_units(lateness, program), "ordered": ordered, "late": late}
        session = SetSession(program, streams=tuple(self.schemas), snapshot=snapshot, **told)
        self._sessions.add(session)
        prepare()
        return session
