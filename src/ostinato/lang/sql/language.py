"""SQL with MATCH_RECOGNIZE and SITUATIONS OF as an entry of the registry: each clause of a statement is a query, and a host executes what
is around them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import pyarrow as pa

from ostinato.algebra.query import MatchQuery
from ostinato.algebra.situations import SituationStream
from ostinato.base.errors import QuerySyntaxError, UnknownNameError, UnsupportedError
from ostinato.expr.typing.arrow_types import usable_schema
from ostinato.expr.typing.schema import Schema
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.language import Language
from ostinato.lang.parsed_query import ParsedQuery
from ostinato.lang.sql.explained import explained
from ostinato.lang.sql.lower import lower
from ostinato.lang.sql.lower_situations import lower_situations
from ostinato.lang.sql.parse import parse_clause
from ostinato.lang.sql.parse_situations import parse_situations
from ostinato.lang.sql.published import published
from ostinato.lang.sql.render import render
from ostinato.lang.sql.render_situations import render_situations
from ostinato.lang.sql.situations_syntax import SituationsOf
from ostinato.lang.sql.split_statement import Clause, SplitStatement, split_statement
from ostinato.lang.sql.syntax import MatchRecognize
from ostinato.lang.sql.unqualified import unqualified
from ostinato.lang.streams.known_streams import KnownStreams

_SIGN = re.compile(r"\bMATCH_RECOGNIZE\b|\bSITUATIONS\s+OF\b", re.IGNORECASE)


@dataclass(frozen=True)
class ClauseTree:
    """A clause where it stands. `stream` and `schema` are what it reads, None before that is known."""

    statement: SplitStatement
    clause: Clause
    tree: MatchRecognize | SituationsOf
    stream: str = ""
    schema: Schema | None = None

    @property
    def number(self) -> int:
        return self.statement.clauses.index(self.clause) + 1

    def reading(self, stream: str | None, schema: pa.Schema) -> ClauseTree:
        usable = usable_schema(schema)
        plain = unqualified(self.tree, usable, self.clause.qualifiers) if isinstance(self.tree, MatchRecognize) else self.tree
        return replace(self, tree=plain, stream=stream or f"input {self.number}", schema=usable)


def bound_clause(statement: SplitStatement, clause: Clause, stream: str | None, schema: pa.Schema) -> ParsedQuery[ClauseTree]:
    """One clause, for a host that has its input in hand. `stream` is how it is called, None for rows of a query."""
    parsed = _parsed(statement, clause)
    return replace(parsed, tree=parsed.tree.reading(stream, schema))


def _recognise(text: str) -> bool:
    return _SIGN.search(text) is not None


def _parse(text: str, options: CompileOptions) -> tuple[ParsedQuery[ClauseTree], ...]:
    statement = split_statement(explained(text) or text, options.dialect)
    if not statement.clauses:
        raise QuerySyntaxError(
            "the statement has no clause MATCH_RECOGNIZE or SITUATIONS OF",
            hint="without one there is nothing for Ostinato to compile or to explain",
        )
    return tuple(_parsed(statement, clause) for clause in statement.clauses)


def _parsed(statement: SplitStatement, clause: Clause) -> ParsedQuery[ClauseTree]:
    reads = () if clause.table is None else (clause.table,)
    if clause.derived:
        derived = parse_situations(clause.body, clause.offset)
        return ParsedQuery(ClauseTree(statement, clause, derived), span=derived.span, reads=reads, relation=clause.placeholder)
    tree = parse_clause(clause.body, clause.offset)
    return ParsedQuery(ClauseTree(statement, clause, tree), span=tree.pattern_span, reads=reads, relation=clause.placeholder)


def _bind(part: ClauseTree, streams: KnownStreams) -> ClauseTree:
    if part.schema is not None:
        return part
    if streams.host is None and not part.statement.bare:
        raise UnsupportedError(
            "only SELECT * FROM and one clause over a stream compiles without a host for the SQL around it",
            hint="compile it with ost.compile, which asks DuckDB about it, or explain it with ost.on(spark).explain",
        )
    return part.reading(*_input(part, streams))


def _input(part: ClauseTree, streams: KnownStreams) -> tuple[str | None, pa.Schema]:
    clause = part.clause
    for name, schema in streams.given.items():
        if clause.table is not None and name.lower() == clause.table.lower():
            return name, schema
    unknown = UnknownNameError(
        f'there is no stream "{clause.table}"', hint=f"given: {', '.join(streams.given) or 'none'}", span=clause.input_span
    )
    if streams.host is None:
        raise unknown
    try:
        return clause.table, streams.host.schema_of(clause.input, part.statement)
    except UnknownNameError as error:
        raise unknown if part.statement.bare else error from None


def _lower(part: ClauseTree, streams: KnownStreams, options: CompileOptions) -> MatchQuery | SituationStream:
    assert part.schema is not None
    if isinstance(part.tree, SituationsOf):
        return lower_situations(part.tree, part.schema, part.stream, part.clause.qualifiers)
    return lower(part.tree, part.schema, part.stream)


def _render(part: ClauseTree) -> str:
    return render_situations(part.tree) if isinstance(part.tree, SituationsOf) else render(part.tree)


def _around(part: ClauseTree, streams: KnownStreams) -> tuple[str, pa.Schema] | None:
    outer = part.statement.outer
    return None if part.statement.bare or streams.host is None else (outer.text, streams.host.schema_of(outer, part.statement))


SQL = Language(
    name="sql",
    title="SQL",
    suffixes=(".sql",),
    sign="contains MATCH_RECOGNIZE or SITUATIONS OF",
    recognise=_recognise,
    parse=_parse,
    bind=_bind,
    lower=_lower,
    render=_render,
    options=frozenset(),
    instead="is for event patterns; a SQL statement says it itself",
    instead_hint="Use ORDER BY, WITHIN and DEFINE",
    around=_around,
    publishes=published,
    strategies=("scan",),
)
