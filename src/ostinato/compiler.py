"""compile(text, schemas) -> Query: composes the stages, nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

import pyarrow as pa

from ostinato.algebra.event_streams import EventQuery
from ostinato.algebra.policies import Ties
from ostinato.algebra.query import MatchQuery
from ostinato.algebra.situations import MatchIntervals, SituationStream
from ostinato.algebra.user_calls import user_calls
from ostinato.base.errors import OstinatoError, SandboxError, SchemaError, UnsupportedError
from ostinato.base.query_text import check_name, check_queries, check_text
from ostinato.base.user_warning import warn_user
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.language import OF_THE_TEXT, Language
from ostinato.lang.parsed_query import ParsedQuery, Tree
from ostinato.lang.registry import language_of
from ostinato.lang.situations.contradiction import contradictory
from ostinato.lang.streams.added_columns import check_added_columns
from ostinato.lang.streams.explosion import explosion
from ostinato.lang.streams.known_streams import KnownStreams, StatementHost
from ostinato.lang.streams.text_streams import TextStreams
from ostinato.plan.long_walks import quadratic
from ostinato.plan.planner import plan, plan_intervals, plan_streams
from ostinato.program.pattern import EventPattern, Pattern
from ostinato.program.tree import TreePattern
from ostinato.query import AnyQuery, Around, Query
from ostinato.rewrite.rules import NEEDED, RULES, rewrite

TREE_SWITCHES = ("equality_chains", "join_order", "negation_cut")
INTERVAL_SWITCHES = ("quiet_rows", "measured_order", "partnerless")


def compile(text: str, schemas: Mapping[str, pa.Schema], **options: Any) -> Query:
    """`schemas` are the streams by name; `options` those of `CompileOptions`."""
    return compile_text(text, schemas, CompileOptions(**options))


def compile_text(text: str, schemas: Mapping[str, pa.Schema], options: CompileOptions, host: StatementHost | None = None) -> Query:
    """`host` tells about the SQL around clauses."""
    text = check_text(text)
    language = language_of(text, options.language)
    streams = KnownStreams({name: schema_of(name, given) for name, given in schemas.items()}, host=host)
    _check_left_out(options.without)
    try:
        language.refuse({name: getattr(options, name) for name in OF_THE_TEXT})
        return _compile_queries(language, text, streams, options)
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
    rules = (rule for rule, _ in RULES if rule not in NEEDED)
    offered = [*rules, "merging", "search", "equality_key", *INTERVAL_SWITCHES, *TREE_SWITCHES]
    unknown = [name for name in without if name not in offered]
    if unknown:
        raise OstinatoError(f'there is no "{unknown[0]}" to leave out', hint=f"without= takes {', '.join(offered)}, as a tuple")


def _compile_queries(language: Language[Tree], text: str, streams: KnownStreams, options: CompileOptions) -> Query:
    """A text may hold several queries: what one returns can be read by those after it. `output` is about the result."""
    parsed = language.parse(text, options)
    check_queries(len(parsed))
    if language.composition is not None and not language.is_statement:
        language.composition(parsed, streams.given, language.naming)
    result = next(part for part in reversed(parsed) if part.returned)
    found: list[Query] = []
    known = TextStreams(streams)
    for part in parsed:
        shown = known.read_by(part.reads, event_types=options.type_by is not None)
        query = compile_query(language, part, text, shown, options if part is result else replace(options, output=None))
        found.append(query)
        if part.relation is not None and streams.host is not None:
            streams.host.add(part.relation, query.output_schema)
        if part.composite is not None and part is not parsed[-1]:
            known.add(part.composite.name, query.output_schema, query.algebra.time or "")
    around = None if language.around is None else language.around(parsed[0].tree, streams)
    number = parsed.index(result)
    upstream = tuple(found[:number]) if language.is_statement else tuple(found[n] for n in _read_by(number, parsed))
    return replace(found[number], upstream=upstream, around=None if around is None else Around(*around))


def _read_by(number: int, parsed: Sequence[ParsedQuery[Any]]) -> list[int]:
    """The queries whose events one of them reads, or those that these read, in their order."""
    wanted = {name.lower() for name in parsed[number].reads}
    read: list[int] = []
    for before in range(number - 1, -1, -1):
        composite = parsed[before].composite
        if composite is not None and composite.name.lower() in wanted:
            wanted |= {name.lower() for name in parsed[before].reads}
            read.insert(0, before)
    return read


NO_STREAMS = KnownStreams({})


def compile_query(
    language: Language[Tree],
    parsed: ParsedQuery[Tree],
    text: str,
    streams: KnownStreams = NO_STREAMS,
    options: CompileOptions = CompileOptions(),  # noqa: B008 (frozen)
) -> Query:
    """One query of a text, or a clause of a statement, by itself. Errors point into `text`, the whole of it."""
    try:
        tree = language.bind(parsed.tree, streams)
        query = language.lower(tree, streams, options)
        _check_columns(query, parsed)
        if options.sandboxed:
            _check_functions(query)
        try:
            rewritten, applied = _rewritten(query, options.without)
            pattern = _planned(rewritten, options)
        except UnsupportedError as error:  # what planning refuses without a place of its own, such as its size, is the pattern
            error.span = error.span or parsed.span
            raise
        warning = _warned(parsed, query, pattern, text)
    except OstinatoError as error:
        raise error.within(text) from error.__cause__
    composite = None if parsed.composite is None else parsed.composite.name
    return Query(text, language.name, language.render(tree), query, rewritten, applied, pattern, composite, warning=warning)


def _check_functions(query: AnyQuery) -> None:
    for call in user_calls(query):
        if call.function is not None and not call.function.sandboxed:
            raise SandboxError(
                f"The function {call.name} is not let into the sandbox",
                hint="Whoever vouches for it registers it so: ost.functions.register(..., sandbox=True)",
                span=call.span,
            )


@singledispatch
def _check_columns(query: AnyQuery, parsed: ParsedQuery[Any]) -> None:
    """Those of the stream, and those of the result."""


@_check_columns.register
def _(query: MatchQuery, parsed: ParsedQuery[Any]) -> None:
    if not query.schema.columns:
        raise SchemaError(f"Stream `{query.stream}` has no columns", hint="Give it at least the one that puts its rows in order")
    check_added_columns(parsed, query)


@singledispatch
def _rewritten(query: AnyQuery, without: tuple[str, ...]) -> tuple[AnyQuery, tuple[str, ...]]:
    """The query after the rules that apply to it, and their names."""
    raise TypeError(f"{type(query).__name__} is no query")


@_rewritten.register
def _(query: MatchQuery, without: tuple[str, ...]) -> tuple[MatchQuery, tuple[str, ...]]:
    return rewrite(query, without)


@_rewritten.register
def _(query: EventQuery, without: tuple[str, ...]) -> tuple[EventQuery, tuple[str, ...]]:
    return query, ()


@_rewritten.register
def _(query: MatchIntervals, without: tuple[str, ...]) -> tuple[MatchIntervals, tuple[str, ...]]:
    return query, ()


@_rewritten.register
def _(query: SituationStream, without: tuple[str, ...]) -> tuple[SituationStream, tuple[str, ...]]:
    return query, ()


@singledispatch
def _planned(query: AnyQuery, options: CompileOptions) -> Pattern:
    raise TypeError(f"{type(query).__name__} is no query")


@_planned.register
def _(query: MatchQuery, options: CompileOptions) -> Pattern:
    pattern = replace(plan(query, options.strategy, "equality_key" not in options.without), search="search" not in options.without)
    if isinstance(pattern, EventPattern) and "merging" in options.without:
        return replace(pattern, merging=False)
    if isinstance(pattern, TreePattern):
        chains, reorders, cuts = (name not in options.without for name in TREE_SWITCHES)
        return replace(pattern, chains=chains, reorders=reorders, cuts=cuts)
    return pattern


@_planned.register
def _(query: EventQuery, options: CompileOptions) -> Pattern:
    return plan_streams(query, options.strategy, "equality_key" not in options.without, "search" not in options.without)


@_planned.register(MatchIntervals)
@_planned.register(SituationStream)
def _(query: MatchIntervals | SituationStream, options: CompileOptions) -> Pattern:
    passes_over, adapts, drops_partnerless = (name not in options.without for name in INTERVAL_SWITCHES)
    return replace(plan_intervals(query, options.strategy), passes_over=passes_over, adapts=adapts, drops_partnerless=drops_partnerless)


@singledispatch
def _warning(query: AnyQuery, parsed: ParsedQuery[Any], pattern: Pattern, text: str) -> UserWarning | None:
    """Of what can outgrow any memory, take longer than anybody waits, or never find anything."""
    return None


@_warning.register
def _(query: MatchQuery, parsed: ParsedQuery[Any], pattern: Pattern, text: str) -> UserWarning | None:
    runs_merge = not pattern.registers and query.ties is Ties.ORDER
    return explosion(parsed, query, text, runs_merge) or quadratic(pattern, parsed.span, text)


@_warning.register
def _(query: MatchIntervals, parsed: ParsedQuery[Any], pattern: Pattern, text: str) -> UserWarning | None:
    return contradictory(parsed, query, text) or explosion(parsed, query, text, runs_merge=False)


def _warned(parsed: ParsedQuery[Any], query: AnyQuery, pattern: Pattern, text: str) -> str | None:
    warning = _warning(query, parsed, pattern, text)
    if warning is None:
        return None
    warn_user(warning)
    return str(warning)
