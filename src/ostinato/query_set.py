"""A set of queries over the same streams, evaluated together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pyarrow as pa

from ostinato.base.errors import OstinatoError, RuleError, SchemaError, UnknownNameError, UnsupportedError
from ostinato.compiler import compile, schema_of
from ostinato.inspect.beginnings_text import beginnings_text
from ostinato.kernels._jit import prepare
from ostinato.learned_texts import LearnedTexts
from ostinato.program.functions_used import CalledFunctions, functions_of
from ostinato.program.program import Program
from ostinato.program.query_graphs import NO_QUERIES, STEP
from ostinato.program.shapes.member import Member
from ostinato.program.shapes.shape import Shape, with_part
from ostinato.query import Query, lateness_in_units
from ostinato.query_store import NewQuery, QueryStore, Shared
from ostinato.rules.canonical_text import canonical_text
from ostinato.rules.follower import Follower
from ostinato.rules.rule import Rule, options_of
from ostinato.rules.rule_changes import RuleChanges, difference
from ostinato.rules.rule_table import RuleTable, rule_table
from ostinato.rules.set_file import read_set, write_set
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.session.given_times import Lateness
from ostinato.runtime.session.session_options import NOT_GIVEN, NotGiven
from ostinato.runtime.session.set_session import SetSession
from ostinato.templates import Template

QUERY_ID = "query_id"
SWITCHES = ("shapes", "query_index", "learned_texts", "shared_beginnings")
MOST_SHOWN = 20  # names of queries in an error


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

    def __init__(self, schemas: Mapping[str, Any], *, without: tuple[str, ...] = ()) -> None:
        """`without` leaves out what makes many queries fast, for comparison: "shapes", "query_index",
        "learned_texts", "shared_beginnings"."""
        unknown = [name for name in without if name not in SWITCHES]
        if unknown:
            raise OstinatoError(f'there is no "{unknown[0]}" to leave out', hint=f"without= takes {', '.join(SWITCHES)}, as a tuple")
        self.schemas = {name: schema_of(name, given) for name, given in schemas.items()}
        self._without = without
        self._queries = QueryStore("shapes" not in without)
        self._rules: dict[str, Rule] = {}  # as they were given, also those that are disabled
        self._texts = None if {"shapes", "learned_texts"} & {*without} else LearnedTexts(self._compiled)
        self._columns: dict[str, pa.Field] = {}  # what all of them return
        self._called = CalledFunctions()
        self._program: Program | None = None  # of all of them, made when somebody asks for it
        self._sessions: WeakSet[SetSession] = WeakSet()
        self._followers: dict[str, Follower] = {}

    def add(self, id: str, text: str, **options: Any) -> None:
        """`options` are those of `ost.compile`. Sessions that are open see it from their next call on."""
        check_id(id)
        if id in self._rules:
            raise OstinatoError(f"there is a query {id!r} already", hint="Remove it first, or give the new one another name")
        new = self._read(Rule(id, text, options_of(options)))
        self._check_columns(id, new.output, self._columns)
        self._check_followers(new)
        self._apply((), {id: new})
        self._rules[id] = new.rule

    def add_all(self, template: str, parameters: Any, *, id: str = "id", **options: Any) -> None:
        """A query per row of an Arrow table: `template` is a text of any language in which `${name}` stands for a value of the column
        `name`; the column `id` has the names of the queries. If one of them cannot be added, none is."""
        written = Template(template)
        table = written.rows(parameters, id)
        new: dict[str, NewQuery] = {}
        columns = dict(self._columns)
        for rule, known in written.rules(table, id, options_of(options), self._texts):
            check_id(rule.id)
            if rule.id in self._rules:
                raise OstinatoError(f"there is a query {rule.id!r} already", hint="Remove it first, or give the new one another name")
            new[rule.id] = self._read(rule) if known is None else NewQuery(rule, *known)
            if known is None or len(new) == 1:
                self._check_columns(rule.id, new[rule.id].output, columns)
                self._check_followers(new[rule.id])
                columns |= {field.name: field for field in new[rule.id].output}
        self._apply((), new)
        self._rules |= {name: one.rule for name, one in new.items()}

    def remove(self, id: str) -> None:
        """Sessions that are open forget what it had begun."""
        if id not in self._rules:
            self._check_known(id)
        self._apply([id] if id in self._queries else [], {})
        del self._rules[id]

    def restart(self, id: str) -> None:
        """It begins anew in sessions that are open; how a query comes out of quarantine."""
        self._check_known(id)
        own = self._as_told(id)
        for session in self._free_sessions():
            session.change((id,), {id: own})

    def told(self) -> dict[str, Program | Member]:
        """All queries, as sessions are told of them."""
        return {id: self._as_told(id) for id in self._queries}

    def _as_told(self, id: str) -> Program | Member:
        entry = self._queries[id]
        is_row = isinstance(entry, Shared) and self._queries.is_shared(entry.member.shape)
        return entry.member if isinstance(entry, Shared) and is_row else self[id].program

    def follow(self, place: str, follower: Follower) -> None:
        """Whoever runs the set elsewhere is told of its changes from now on; one at a `place`."""
        self._followers[place] = follower

    def sync(self, rules: Any, *, templates: Mapping[str, str] | None = None) -> RuleChanges:
        """Make the set what a table of rules says, and return what that has changed. `rules` is a table (Arrow, pandas, Polars, Spark, a
        list of dicts) or a file (.parquet, .csv, .jsonl, .toml) with the columns `id`, and `text` or `template` with `parameters`,
        `enabled`, and options of `ost.compile`. Rules that are not in it are removed; those that say what they said go on undisturbed. If
        any is broken, all that are broken are told in one error, `ost.RuleError`, and nothing is changed."""
        table = rule_table(rules, templates)
        changes = difference(self._rules, table.rules)
        new, columns = self._read_all(table, changes)
        same = {id: new.pop(id) for id in changes.changed if self._means_the_same(id, new[id])}
        changes = changes.with_reworded([*same])
        gone = [id for id in (*changes.removed, *changes.changed, *changes.disabled) if id in self._queries]
        self._apply(gone, new)
        for id, one in same.items():
            self._queries.reword(id, one.said, one.meaning if isinstance(one.meaning, Query) else None)
        self._rules = {rule.id: rule for rule in table.rules}
        self._columns = columns
        return changes

    def _read_all(self, table: RuleTable, changes: RuleChanges) -> tuple[dict[str, NewQuery], dict[str, pa.Field]]:
        """The queries that begin anew, and the columns that all will return."""
        begin = {*changes.added, *changes.changed, *changes.enabled}
        leave = {*changes.removed, *changes.changed, *changes.disabled}
        columns = {field.name: field for _, output in self._queries.outputs(leave) for field in output}
        found: dict[str, NewQuery] = {}
        errors = dict(table.errors)
        for rule in table.rules:
            if rule.id in begin:
                try:
                    check_id(rule.id)
                    new = self._read(rule)
                    self._check_columns(rule.id, new.output, columns)
                    self._check_followers(new)
                    found[rule.id] = new
                    columns |= {field.name: field for field in new.output}
                except OstinatoError as error:
                    errors[rule.id] = error
        if errors:
            raise RuleError(errors, table.count)
        return found, columns

    def _read(self, rule: Rule) -> NewQuery:
        """What a text says: known from others that are like it, or compiled."""
        known = self._texts.member(rule.text, rule.told) if self._texts is not None else None
        if known is not None:
            self._called.check(known[0].shape.functions)
            return NewQuery(rule, *known)
        query = self._compiled(rule.text, rule.told)
        self._called.check(functions_of(query.program))
        return NewQuery(rule, query, query.output_schema)

    def _means_the_same(self, id: str, new: NewQuery) -> bool:
        if isinstance(new.meaning, Query):
            return new.meaning.program == self[id].program
        entry = self._queries[id]
        return isinstance(entry, Shared) and entry.member.is_same(new.meaning)

    def _apply(self, removed: Collection[str], added: Mapping[str, NewQuery]) -> None:
        """In all sessions that are open, or in none."""
        if not removed and not added:
            return
        sessions = self._free_sessions()
        is_less = [self._queries.remove(id) for id in removed]
        for id in removed:
            self._called.leave(id)
        told = {id: self._added(id, new) for id, new in added.items()}
        for session in sessions:
            session.change(removed, told)
        self._program = None
        if any(is_less):
            self._columns = {field.name: field for _, output in self._queries.outputs() for field in output}
        for new in added.values():
            self._columns |= {field.name: field for field in new.output}

    def _added(self, id: str, new: NewQuery) -> Program | Member:
        self._called.join(id, functions_of(new.meaning.program) if isinstance(new.meaning, Query) else new.meaning.shape.functions)
        if isinstance(new.meaning, Query):
            return self._queries.add(id, new.meaning, new.said)
        if self._queries.is_shared(new.meaning.shape):
            self._queries.add_member(id, new.meaning, new.said)
            return new.meaning
        return self._queries.add(id, self._compiled(new.said.text, new.said.options), new.said)

    def _compiled(self, text: str, options: Mapping[str, Any]) -> Query:
        return compile(text, self.schemas, **options)

    @property
    def disabled(self) -> tuple[str, ...]:
        """Rules of the table that do not run."""
        return tuple(id for id, rule in self._rules.items() if not rule.enabled)

    def save(self, path: str | Path) -> None:
        """Write the set to one file that people and `QuerySet.load` can read; it appears whole or not at all. Queries that say the same are
        written once."""
        write_set(Path(path), self.schemas, [self._as_written(id, rule) for id, rule in self._rules.items()])

    def _as_written(self, id: str, rule: Rule) -> Rule:
        """In the canonical text, where that is at hand: queries of a shape, of which there may be many, are not compiled for it."""
        query = self._queries.kept(id) if id in self._queries else None
        if query is None:
            return rule
        return Rule(id, canonical_text(query), options_of({**rule.told, "language": query.language}), rule.enabled)

    @classmethod
    def load(cls, path: str | Path) -> QuerySet:
        """A set that `save` has written. A file that is damaged, cut off, of something else or of a later version is refused, with the line
        and column where."""
        stored = read_set(Path(path))
        queries = cls(stored.schemas)
        read: dict[Any, NewQuery] = {}  # what says the same is compiled once
        for rule in stored.rules:
            says = (rule.text, rule.options)
            with stored.place_of(rule.id):
                check_id(rule.id)
                if rule.enabled:
                    new = read[says]._replace(rule=rule) if says in read else queries._read(rule)
                    queries._check_columns(rule.id, new.output, queries._columns)
                    queries._apply((), {rule.id: new})
                    read[says] = new
            queries._rules[rule.id] = rule
        return queries

    def _free_sessions(self) -> list[SetSession | Follower]:
        """All that are open; none of them is at work, or has stopped at an error."""
        sessions: list[SetSession | Follower] = [*self._followers.values(), *(one for one in self._sessions if not one.closed)]
        for session in sessions:
            session.check_free()
        return sessions

    def _check_followers(self, new: NewQuery) -> None:
        for follower in self._followers.values():
            follower.check_query(new.program, new.output)

    def _check_known(self, id: str) -> None:
        if id not in self._queries:
            shown = [*islice(self._queries, MOST_SHOWN), *(["..."] if len(self._queries) > MOST_SHOWN else [])]
            raise UnknownNameError(f"there is no query {id!r}", hint=f"There are {', '.join(shown) or 'none'}")

    def _check_columns(self, id: str, output: pa.Schema, columns: Mapping[str, pa.Field]) -> None:
        """Where results of all queries are one table, a name has one type."""
        for field in output:
            if field.name == QUERY_ID:
                raise SchemaError(f"query {id!r} returns a column {QUERY_ID}, which tells the queries of a set apart", hint="Rename it")
            known = columns.get(field.name)
            if known is not None and known.type != field.type:
                others = [name for name, schema in self._queries.outputs() if field.name in schema.names]
                other = f"query {others[0]!r}" if others else "another query"
                raise SchemaError(
                    f"query {id!r} returns {field.name!r} as {field.type}, {other} as {known.type}",
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
        """Which queries are evaluated as one, by shapes, and why others are not; and which of these begin alike."""
        return self._queries.explain() + ("" if "shared_beginnings" in self._without else beginnings_text(self.program))

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
        on_error: str = "quarantine",
    ) -> SetSession:
        """A session to push batches to, as `Query.open`. Its `push`, `advance` and `close` return a mapping from the names of queries to
        their new matches, of those that have some. `on_error`: a query that fails (a value that it cannot compute, its budget) is put
        aside with its error, `session.quarantined`, and the others go on; with "raise" an error stops the session."""
        if late == "keep" and len(self._queries) > 1:
            raise UnsupportedError("late rows are not kept by a set", hint="they are counted: metrics()['late_rows']")
        program = self.program
        told: dict[str, Any] = {"budget": budget, "lateness": lateness_in_units(lateness, program), "ordered": ordered, "late": late}
        told |= {"without": self._without, "on_error": on_error}
        session = SetSession(program, streams=tuple(self.schemas), snapshot=snapshot, **told)
        self._sessions.add(session)
        prepare()
        return session
