"""compile(text, schemas) -> Query: composes the stages, nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import pyarrow as pa

from ostinato.algebra.policies import Ties
from ostinato.algebra.query import MatchQuery
from ostinato.base.errors import OstinatoError, QuerySyntaxError, SchemaError, UnknownNameError, UnsupportedError
from ostinato.base.query_text import check_name, check_text
from ostinato.base.user_warning import warn_user
from ostinato.expr.typing.arrow_types import usable_schema
from ostinato.lang import sase, sql
from ostinato.plan.long_walks import quadratic
from ostinato.plan.planner import plan
from ostinato.program.pattern import EventPattern
from ostinato.query import Around, Query
from ostinato.rewrite.rules import NEEDED, RULES, rewrite

LANGUAGES = ("sql", "sase")
_SASE = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*PATTERN\b", re.IGNORECASE | re.DOTALL)
_SQL = re.compile(r"\bMATCH_RECOGNIZE\b", re.IGNORECASE)


def recognise(text: str) -> str:
    """The language that a text is written in."""
    text = check_text(text)
    if _SASE.match(text):
        return "sase"
    if _SQL.search(text):
        return "sql"
    raise QuerySyntaxError(
        "this is no query of a language that Ostinato knows",
        hint='SASE+ begins with PATTERN, SQL contains MATCH_RECOGNIZE; or say which with language=("sql" or "sase")',
    )


def compile(
    text: str,
    schemas: Mapping[str, pa.Schema],
    *,
    language: str | None = None,
    type_by: str | None = None,
    time: str | Mapping[str, str] | None = None,
    output: str | None = None,
    ties: str | None = None,
    dialect: str = "duckdb",
    without: tuple[str, ...] = (),
    strategy: str | None = None,
    host: SqlHost | None = None,
) -> Query:
    """`schemas` are the streams by name; `time` is their time column, or a mapping from streams to theirs. `without` names rewrites to
    leave out, "merging" (of equivalent runs) or "search" (by the values that conditions compare), `strategy` forces a way to evaluate
    the query: both are for comparison. `host` tells about the SQL around clauses."""
    text = check_text(text)
    language = language or recognise(text)
    if language not in LANGUAGES:
        raise OstinatoError(f'there is no language "{language}"', hint=f"the languages are {', '.join(LANGUAGES)}")
    schemas = {name: schema_of(name, given) for name, given in schemas.items()}
    _check_left_out(without)
    try:
        if language == "sase":
            return compile_sase(text, schemas, type_by=type_by, time=time, output=output, ties=ties, without=without, strategy=strategy)
        for name, value in (("type_by", type_by), ("output", output), ("time", time), ("ties", ties)):
            if value is not None:
                raise OstinatoError(f"{name}= is for event patterns; in SQL the clause itself says it")
        return compile_sql(text, schemas, dialect=dialect, without=without, strategy=strategy, host=host)
    except OstinatoError as error:
        raise error.within(text) from error.__cause__


def schema_of(name: str, given: object) -> pa.Schema:
    """What has an Arrow schema stands for it."""
    check_name(name, "The name of a stream")
    schema = given if isinstance(given, pa.Schema) else getattr(given, "schema", None)
    if not isinstance(schema, pa.Schema):
        raise SchemaError(f"The schema of stream `{name}` is a {type(given).__name__}", hint="Pass an Arrow schema, such as table.schema")
    return schema


def _check_left_out(without: tuple[str, ...]) -> None:
    offered = [*(rule for rule, _ in RULES if rule not in NEEDED), "merging", "search"]
    unknown = [name for name in without if name not in offered]
    if unknown:
        raise OstinatoError(f'there is no "{unknown[0]}" to leave out', hint=f"without= takes {', '.join(offered)}, as a tuple")


def compile_sase(
    text: str,
    schemas: Mapping[str, pa.Schema],
    *,
    type_by: str | None = None,
    time: str | Mapping[str, str] | None = None,
    output: str | None = None,
    ties: str | None = None,
    without: tuple[str, ...] = (),
    strategy: str | None = None,
) -> Query:
    """A text may hold several queries: the events that one returns are a stream for those after it. `output` is about the last."""
    trees = sase.parse_queries(text)
    sase.check_composition(trees, schemas)
    known = {name: usable_schema(schema) for name, schema in schemas.items()}
    composites: dict[str, str] = {}
    feeds: list[Query] = []
    for tree in trees:
        wanted = output if tree is trees[-1] else None
        lowered = sase.lower(tree, known, type_by=type_by, time=time or "ts", output=wanted, ties=ties, composites=composites)
        query = _finished(text, "sase", sase.render(tree), lowered, without, strategy)
        warning: UserWarning | None = sase.explosion(tree, lowered, runs_merge=not query.pattern.registers and lowered.ties is Ties.ORDER)
        warning = warning or quadratic(query.pattern, None if tree.strategy is None else tree.strategy.span, text)
        if warning is not None:
            warn_user(warning)
        composite = None if tree.composite is None else tree.composite.name
        query = replace(query, composite=composite, warning=None if warning is None else str(warning))
        if tree.composite is not None and tree is not trees[-1]:
            known[tree.composite.name] = usable_schema(query.output_schema)
            composites[tree.composite.name] = lowered.time or ""
            feeds.append(query)
    return replace(query, feeds=tuple(feeds))


class SqlHost(Protocol):
    """Who executes the SQL around the clauses, asked about columns alone."""

    def schema_of(self, query: sql.Spliced, statement: sql.Cut) -> pa.Schema:
        """The columns of a query that is part of the statement, or of all of it with the clauses replaced."""

    def add(self, name: str, schema: pa.Schema) -> None:
        """A relation that later queries may name."""


def compile_sql(
    text: str,
    schemas: Mapping[str, pa.Schema],
    *,
    dialect: str = "duckdb",
    without: tuple[str, ...] = (),
    strategy: str | None = None,
    host: SqlHost | None = None,
) -> Query:
    """Each clause is a query of its own, which reads a stream, or rows of which the `host` knows the columns."""
    statement = sql.cut(sql.explained(text) or text, dialect)
    if not statement.clauses:
        raise QuerySyntaxError(
            "the statement has no MATCH_RECOGNIZE clause", hint="without one there is nothing for Ostinato to compile or to explain"
        )
    if host is None and not statement.bare:
        raise UnsupportedError(
            "only SELECT * FROM stream MATCH_RECOGNIZE (...) compiles without a host for the SQL around it",
            hint="compile it with ost.compile, which asks DuckDB about it, or explain it with ost.on(spark).explain",
        )
    found = []
    for number, clause in enumerate(statement.clauses, 1):
        stream, schema = _clause_input(clause, schemas, statement, host)
        query = compile_clause(clause, text, schema, stream or f"input {number}", without=without, strategy=strategy)
        found.append(query)
        if host is not None:
            host.add(clause.placeholder, query.output_schema)
    if statement.bare or host is None:
        return found[-1]
    result = host.schema_of(statement.outer, statement)
    return replace(found[-1], feeds=tuple(found[:-1]), around=Around(statement.outer.text, result))


def _clause_input(
    clause: sql.Clause, schemas: Mapping[str, pa.Schema], statement: sql.Cut, host: SqlHost | None
) -> tuple[str | None, pa.Schema]:
    for name, schema in schemas.items():
        if clause.table is not None and name.lower() == clause.table.lower():
            return name, schema
    unknown = UnknownNameError(
        f'there is no stream "{clause.table}"', hint=f"given: {', '.join(schemas) or 'none'}", span=clause.input_span
    )
    if host is None:
        raise unknown
    try:
        return clause.table, host.schema_of(clause.input, statement)
    except UnknownNameError as error:
        raise unknown if statement.bare else error from None


def compile_clause(
    clause: sql.Clause, text: str, schema: pa.Schema, stream: str, *, without: tuple[str, ...] = (), strategy: str | None = None
) -> Query:
    """One clause of a SQL statement whose input has this schema. Errors point into `text`, the whole statement."""
    try:
        usable = usable_schema(schema)
        tree = sql.unqualified(sql.parse_clause(clause.body, clause.offset), usable, clause.qualifiers)
        query = sql.lower(tree, usable, stream)
        try:
            compiled = _finished(text, "sql", sql.render(tree), query, without, strategy)
        except UnsupportedError as error:  # what planning refuses without a place of its own, such as its size, is the pattern
            error.span = error.span or tree.pattern_span
            raise
        warning = quadratic(compiled.pattern, tree.pattern_span, text)
        if warning is not None:
            warn_user(warning)
        return replace(compiled, warning=None if warning is None else str(warning))
    except OstinatoError as error:
        raise error.within(text) from error.__cause__


def _finished(text: str, language: str, syntax: str, query: MatchQuery, without: tuple[str, ...], strategy: str | None) -> Query:
    rewritten, applied = rewrite(query, without)
    pattern = replace(plan(rewritten, strategy), search="search" not in without)
    if isinstance(pattern, EventPattern) and "merging" in without:
        pattern = replace(pattern, merging=False)
    return Query(
        text,
        language,
        syntax,
        query,
        rewritten,
        applied,
        pattern,
    )
