"""A set of queries over the same streams, evaluated together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pyarrow as pa

from ostinato.base.errors import OstinatoError, RuleError, SchemaError, UnknownNameError, UnsupportedError
from ostinato.compiler import compile, schema_of
from ostinato.kernels._jit import prepare
from ostinato.program.program import Program
from ostinato.program.query_graphs import NO_QUERIES, STEP, with_query
from ostinato.query import Query, lateness_in_units
from ostinato.rules.canonical_text import canonical_text
from ostinato.rules.rule import Rule, options_of
from ostinato.rules.rule_changes import RuleChanges, difference
from ostinato.rules.rule_table import RuleTable, rule_table
from ostinato.rules.set_file import read_set, write_set
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.session.given_times import Lateness
from ostinato.runtime.session.session_options import NOT_GIVEN, NotGiven
from ostinato.runtime.session.set_session import SetSession

QUERY_ID = "query_id"


def check_id(id: object) -> None:
    if not isinstance(id, str) or not id or STEP in id or "/" in id:
        raise OstinatoError(f"{id!r} is no name of a query", hint=f"It is a text that is not empty, without {STEP} and /")


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
        self._rules: dict[str, Rule] = {}  # as they were given, also those that are disabled
        self._columns: dict[str, pa.Field] = {}  # what all of them return
        self._program: Program | None = None  # of all of them, made when somebody asks for it
        self._sessions: WeakSet[SetSession] = WeakSet()

    def add(self, id: str, text: str, **options: Any) -> None:
        """`options` are those of `ost.compile`. Sessions that are open see it from their next call on."""
        check_id(id)
        if id in self._rules:
            raise OstinatoError(f"there is a query {id!r} already", hint="Remove it first, or give the new one another name")
        query = compile(text, self.schemas, **options)
        self._check_columns(id, query)
        self._apply((), {id: query})
        self._rules[id] = Rule(id, text, options_of(options))

    def remove(self, id: str) -> None:
        """Sessions that are open forget what it had begun."""
        if id not in self._rules:
            self._known(id)
        self._apply([id] if id in self._queries else [], {})
        del self._rules[id]

    def restart(self, id: str) -> None:
        """It begins anew in sessions that are open; how a query comes out of quarantine."""
        query = self._known(id)
        for session in self._free_sessions():
            session.change((id,), {id: query.program})

    def sync(self, rules: Any, *, templates: Mapping[str, str] | None = None) -> RuleChanges:
        """Make the set what a table of rules says, and return what that has changed. `rules` is a table (Arrow, pandas, Polars, Spark, a
        list of dicts) or a file (.parquet, .csv, .jsonl, .toml) with the columns `id`, and `text` or `template` with `parameters`,
        `enabled`, and options of `ost.compile`. Rules that are not in it are removed; those that say what they said go on undisturbed. If
        any is broken, all that are broken are told in one error, `ost.RuleError`, and nothing is changed."""
        table = rule_table(rules, templates)
        wanted = table.rules
        changes = difference(self._rules, wanted)
        compiled, columns = self._compiled(table, changes)
        reworded = [id for id in changes.changed if compiled[id].program == self._queries[id].program]
        changes = changes.with_reworded(reworded)
        gone = [id for id in (*changes.removed, *changes.changed, *changes.disabled) if id in self._queries]
        self._apply(gone, {id: query for id, query in compiled.items() if id not in reworded})
        self._queries |= {id: compiled[id] for id in reworded}
        self._rules = {rule.id: rule for rule in wanted}
        self._columns = columns
        return changes

    def _compiled(self, table: RuleTable, changes: RuleChanges) -> tuple[dict[str, Query], dict[str, pa.Field]]:
        """The queries that begin anew, and the columns that all will return."""
        new = {*changes.added, *changes.changed, *changes.enabled}
        found: dict[str, Query] = {}
        errors = dict(table.errors)
        columns = {field.name: field for id in changes.unchanged if id in self._queries for field in self._queries[id].output_schema}
        for rule in table.rules:
            if rule.id not in new:
                continue
            try:
                check_id(rule.id)
                query = compile(rule.text, self.schemas, **rule.told)
                self._check_columns(rule.id, query, columns)
                found[rule.id] = query
                columns |= {field.name: field for field in query.output_schema}
            except OstinatoError as error:
                errors[rule.id] = error
        if errors:
            raise RuleError(errors, table.count)
        return found, columns

    def _apply(self, removed: Collection[str], added: Mapping[str, Query]) -> None:
        """In all sessions that are open, or in none."""
        if removed or added:
            programs = {id: query.program for id, query in added.items()}
            for session in self._free_sessions():
                session.change(removed, programs)
        for id in removed:
            del self._queries[id]
        self._queries |= added
        self._program = None
        if removed:
            self._columns = {field.name: field for query in self._queries.values() for field in query.output_schema}
        self._columns |= {field.name: field for query in added.values() for field in query.output_schema}

    @property
    def disabled(self) -> tuple[str, ...]:
        """Rules of the table that do not run."""
        return tuple(id for id, rule in self._rules.items() if not rule.enabled)

    def save(self, path: str | Path) -> None:
        """Write the set to one file that people and `QuerySet.load` can read; it appears whole or not at all. Queries that say the same are
        written once."""
        texts = {id: canonical_text(self._queries[id]) for id in self._queries}
        languages = {id: self._queries[id].language for id in self._queries}
        rules = [
            replace(
                rule,
                text=texts.get(id, rule.text),
                options=options_of({**rule.told, "language": languages.get(id, rule.told.get("language"))}),
            )
            for id, rule in self._rules.items()
        ]
        write_set(Path(path), self.schemas, rules)

    @classmethod
    def load(cls, path: str | Path) -> QuerySet:
        """A set that `save` has written. A file that is damaged, cut off, of something else or of a later version is refused, with the line
        and column where."""
        stored = read_set(Path(path))
        queries = cls(stored.schemas)
        compiled: dict[Any, Query] = {}  # what says the same is compiled once
        for rule in stored.rules:
            says = (rule.text, rule.options)
            with stored.place_of(rule.id):
                check_id(rule.id)
                if rule.enabled:
                    query = compiled[says] if says in compiled else compile(rule.text, queries.schemas, **rule.told)
                    queries._check_columns(rule.id, query)
                    queries._apply((), {rule.id: query})
                    compiled[says] = query
            queries._rules[rule.id] = rule
        return queries

    def _free_sessions(self) -> list[SetSession]:
        """All that are open; none of them is at work, or has stopped at an error."""
        sessions = self._open_sessions()
        for session in sessions:
            session.check_free()
        return sessions

    def _open_sessions(self) -> list[SetSession]:
        return [session for session in self._sessions if not session.closed]

    def _known(self, id: str) -> Query:
        if id not in self._queries:
            raise UnknownNameError(f"there is no query {id!r}", hint=f"There are {', '.join(self._queries) or 'none'}")
        return self._queries[id]

    def _check_columns(self, id: str, query: Query, columns: Mapping[str, pa.Field] | None = None) -> None:
        """Where results of all queries are one table, a name has one type."""
        for field in query.output_schema:
            if field.name == QUERY_ID:
                raise SchemaError(f"query {id!r} returns a column {QUERY_ID}, which tells the queries of a set apart", hint="Rename it")
            known = (self._columns if columns is None else columns).get(field.name)
            if known is not None and known.type != field.type:
                others = [name for name, query in self._queries.items() if field.name in query.output_schema.names]
                other = f"query {others[0]!r}" if others else "another query"
                raise SchemaError(
                    f"query {id!r} returns {field.name!r} as {field.type}, {other} as {known.type}",
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
        on_error: str = "quarantine",
    ) -> SetSession:
        """A session to push batches to, as `Query.open`. Its `push`, `advance` and `close` return a mapping from the names of queries to
        their new matches, of those that have some. `on_error`: a query that fails (a value that it cannot compute, its budget) is put
        aside with its error, `session.quarantined`, and the others go on; with "raise" an error stops the session."""
        if late == "keep" and len(self._queries) > 1:
            raise UnsupportedError("late rows are not kept by a set", hint="they are counted: metrics()['late_rows']")
        program = self.program
        told: dict[str, Any] = {"budget": budget, "lateness": lateness_in_units(lateness, program), "ordered": ordered, "late": late}
        session = SetSession(program, streams=tuple(self.schemas), snapshot=snapshot, on_error=on_error, **told)
        self._sessions.add(session)
        prepare()
        return session
