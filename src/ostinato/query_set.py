"""A set of queries over the same streams, evaluated together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any
from weakref import WeakSet

import numpy as np
import pyarrow as pa

from ostinato.base.errors import OstinatoError, SchemaError, UnknownNameError, UnsupportedError
from ostinato.compiler import compile, schema_of
from ostinato.kernels._jit import prepare
from ostinato.learned_texts import LearnedTexts
from ostinato.program.program import Program
from ostinato.program.query_graphs import NO_QUERIES, STEP
from ostinato.program.shapes.member import Member
from ostinato.program.shapes.shape import Shape, with_part
from ostinato.query import Query, lateness_in_units
from ostinato.query_store import QueryStore, Said, Shared
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.session.given_times import Lateness
from ostinato.runtime.session.session_options import NOT_GIVEN, NotGiven
from ostinato.runtime.session.set_session import SetSession
from ostinato.templates import Template, as_table

QUERY_ID = "query_id"
SWITCHES = ("shapes", "query_index", "learned_texts")
MOST_SHOWN = 20  # names of queries in an error
MANY = 8  # rows of a template, from which on it is learned


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

    def __init__(self, schemas: Mapping[str, Any], *, without: tuple[str, ...] = ()) -> None:
        """`without` leaves out what makes many queries fast, for comparison: "shapes", "query_index",
        "learned_texts"."""
        unknown = [name for name in without if name not in SWITCHES]
        if unknown:
            raise OstinatoError(f'there is no "{unknown[0]}" to leave out', hint=f"without= takes {', '.join(SWITCHES)}, as a tuple")
        self.schemas = {name: schema_of(name, given) for name, given in schemas.items()}
        self._without = without
        self._queries = QueryStore("shapes" not in without)
        self._texts = None if {"shapes", "learned_texts"} & {*without} else LearnedTexts(self._compiled)
        self._columns: dict[str, pa.Field] = {}  # what all of them return
        self._program: Program | None = None  # of all of them, made when somebody asks for it
        self._sessions: WeakSet[SetSession] = WeakSet()

    def add(self, id: str, text: str, **options: Any) -> None:
        """`options` are those of `ost.compile`. Sessions that are open see it from their next call on."""
        self._check_new(id)
        known = self._texts.member(text, options) if self._texts is not None else None
        if known is not None and self._queries.is_shared(known[0].shape):
            self._queries.add_member(id, known[0], Said(text, options))
            self._tell(id, known[0])
            return
        query = self._compiled(text, options)
        self._check_columns(id, query.output_schema)
        added = self._queries.add(id, query, Said(text, options))
        self._columns |= {field.name: field for field in query.output_schema}
        self._tell(id, added)

    def add_all(self, template: str, parameters: Any, *, id: str = "id", **options: Any) -> None:
        """A query per row of an Arrow table: `template` is a text of any language in which `:name` stands for a value of the column
        `name`; the column `id` has the names of the queries. If one of them cannot be added, none is."""
        written, table = Template(template), as_table(parameters)
        written.checked(table, id)
        names = table.column(id).to_pylist()
        for name in names:
            self._check_new(name)
        if len(set(names)) < len(names):
            raise OstinatoError("two rows of the table have the same name", hint=f"names of queries, in the column {id!r}, differ")
        added: list[str] = []
        try:
            for rows in self._add_learned(written, table, names, options, added):
                self.add(names[rows], written.filled(table.slice(rows, 1).to_pylist()[0]), **options)
                added.append(names[rows])
        except OstinatoError:
            for name in added:
                self.remove(name)
            raise

    def _add_learned(
        self, written: Template, table: pa.Table, names: list[str], options: Mapping[str, Any], added: list[str]
    ) -> Iterator[int]:
        """Add those of which is known what they are; the rows of the others come back, to be added one by one."""
        texts = self._texts
        learned = written.learned(table, lambda text: texts.shaped(text, options)) if texts is not None and len(names) >= MANY else None
        if learned is None:
            yield from range(len(names))
            return
        self._check_columns(names[0], learned.output)
        apart = np.asarray(written.apart(table))
        whole = table.select(written.names) if written.names else table
        chosen = np.flatnonzero(~apart)
        rows = whole.take(pa.array(chosen))
        values = zip(*(column.to_pylist() for column in rows.columns), strict=True)
        self._queries.know(learned.shape, learned.output)
        told: dict[str, Member] = {}
        for row, member, given in zip(chosen.tolist(), written.members(rows, learned), values, strict=True):
            told[names[row]] = member
            self._queries.add_member(names[row], member, Said(written, options, given))
        added += told
        self._columns |= {field.name: field for field in learned.output}
        self._tell_all(told)
        yield from np.flatnonzero(apart).tolist()

    def _compiled(self, text: str, options: Mapping[str, Any]) -> Query:
        return compile(text, self.schemas, **options)

    def _check_new(self, id: object) -> None:
        if not isinstance(id, str) or not id or STEP in id or "/" in id:
            raise OstinatoError(f"{id!r} is no name of a query", hint=f"It is a text that is not empty, without {STEP} and /")
        if id in self._queries:
            raise OstinatoError(f"there is a query {id!r} already", hint="Remove it first, or give the new one another name")

    def _tell(self, id: str, added: Program | Member) -> None:
        self._tell_all({id: added})

    def _tell_all(self, added: Mapping[str, Program | Member]) -> None:
        self._program = None
        for session in self._open_sessions():
            session.change((), added)

    def remove(self, id: str) -> None:
        """Sessions that are open forget what it had begun."""
        self._check_known(id)
        for session in self._open_sessions():
            session.remove(id)
        if self._queries.remove(id):
            self._columns = {field.name: field for _, output in self._queries.outputs() for field in output}
        self._program = None

    def _open_sessions(self) -> list[SetSession]:
        return [session for session in self._sessions if not session.closed]

    def _check_known(self, id: str) -> None:
        if id not in self._queries:
            shown = [*islice(self._queries, MOST_SHOWN), *(["..."] if len(self._queries) > MOST_SHOWN else [])]
            raise UnknownNameError(f"there is no query {id!r}", hint=f"There are {', '.join(shown) or 'none'}")

    def _check_columns(self, id: str, output: pa.Schema) -> None:
        """Where results of all queries are one table, a name has one type."""
        for field in output:
            if field.name == QUERY_ID:
                raise SchemaError(f"query {id!r} returns a column {QUERY_ID}, which tells the queries of a set apart", hint="Rename it")
            known = self._columns.get(field.name)
            if known is not None and known.type != field.type:
                other = next(name for name, schema in self._queries.outputs() if field.name in schema.names)
                raise SchemaError(
                    f"query {id!r} returns {field.name!r} as {field.type}, query {other!r} as {known.type}",
                    hint="Rename one of them, or cast it: the results of a set can be one table",
                )

    @property
    def output_schema(self) -> pa.Schema:
        """The columns of all results in one table: the name of the query, then theirs."""
        fields = {field.name: field.with_nullable(True) for _, output in self._queries.outputs() for field in output}
        return pa.schema([pa.field(QUERY_ID, pa.string()), *fields.values()])

    @property
    def program(self) -> Program:
        if self._program is None:
            program = NO_QUERIES
            for name, own in self.parts():
                program = with_part(program, name, own)
            self._program = program
        return self._program

    def parts(self, shared: Callable[[Shape], bool] = lambda shape: True) -> Iterator[tuple[str, Program]]:
        """Programs alone: of each query under its name, and of all queries of a shape where they are evaluated as one; of which shapes says
        `shared`."""
        return self._queries.parts(self.__getitem__, shared)

    def explain(self) -> str:
        """Which queries are evaluated as one, by shapes, and why others are not."""
        return self._queries.explain()

    def __getitem__(self, id: str) -> Query:
        self._check_known(id)
        kept = self._queries.kept(id)
        if kept is not None:
            return kept
        entry = self._queries[id]
        assert isinstance(entry, Shared)
        return self._compiled(entry.said.text, entry.said.options)

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
        session = SetSession(program, streams=tuple(self.schemas), snapshot=snapshot, without=self._without, **told)
        self._sessions.add(session)
        prepare()
        return session
