"""PREV in a definition that reads some of several streams: the event before it is the one before it among these.

Such a condition is decided by a query of its own over these streams alone. What it returns are their events, each told whether the
condition holds; the definition reads those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ostinato.algebra.pattern import Variable
from ostinato.algebra.policies import Selection
from ostinato.algebra.query import MatchQuery, Measure, OrderKey, Within
from ostinato.base.span import NOWHERE, Span
from ostinato.expr.nodes import Expr, Field, Literal, current
from ostinato.expr.typing.infer import infer
from ostinato.expr.typing.schema import Schema
from ostinato.expr.unresolved import RawCall, RawColumn
from ostinato.lang.parsed_query import Composite
from ostinato.lang.situations.conditions import lower_condition
from ostinato.lang.situations.definitions import check_names, lower_partition
from ostinato.lang.situations.render_expression import render_name
from ostinato.lang.situations.syntax import Definition, Name, StreamName
from ostinato.lang.streams.given_streams import Times
from ostinato.lang.tpstream.streams import read_sources
from ostinato.lang.tpstream.syntax import TpstreamQuery, streams_of


@dataclass(frozen=True)
class ToldEvents:
    """The events of `streams`, with `columns` and, for each definition, whether its condition holds."""

    streams: tuple[StreamName, ...]
    definitions: tuple[Definition, ...]
    partition: tuple[Name, ...]
    columns: tuple[str, ...]
    published: Composite
    text: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Streams = tuple[StreamName, ...]


def separated(queries: Sequence[TpstreamQuery]) -> tuple[TpstreamQuery | ToldEvents, ...]:
    """The queries of a text, each behind those that decide conditions for it."""
    found: list[TpstreamQuery | ToldEvents] = []
    for query in queries:
        found += _separated(query) if _skips_events(query) else [query]
    return tuple(found)


def _skips_events(query: TpstreamQuery) -> bool:
    """Whether PREV in one of its definitions passes over events of streams that this does not read. A partition by fields of structs cannot
    be published, and such a query is refused."""
    every = _names(streams_of(query))
    back = (one for one in query.definitions if _is_moved(one))
    return any(_names(_read(one, query)) != every for one in back) and not any("." in column.name for column in query.partition)


def _is_moved(definition: Definition) -> bool:
    """Which BETWEEN is a duration is known before types are: a condition that they decide stays where it is."""
    return definition.condition is not None and definition.compared is None and _looks_back(definition.condition)


def _names(streams: Sequence[StreamName]) -> frozenset[str]:
    return frozenset(stream.name.lower() for stream in streams)


def _separated(query: TpstreamQuery) -> list[TpstreamQuery | ToldEvents]:
    check_names(query.definitions)
    by_streams: dict[frozenset[str], list[Definition]] = {}
    for definition in query.definitions:
        if _is_moved(definition):
            by_streams.setdefault(_names(_read(definition, query)), []).append(definition)
    told: list[TpstreamQuery | ToldEvents] = []
    moved: dict[str, Definition] = {}
    for definitions in by_streams.values():
        streams = tuple(dict.fromkeys(_as_said(stream, query) for stream in _read(definitions[0], query)))
        one = _told(query, streams, tuple(definitions))
        told.append(one)
        moved |= {definition.name: _moved(definition, one) for definition in definitions}
    definitions_left = tuple(moved.get(definition.name, definition) for definition in query.definitions)
    return [*told, replace(query, definitions=definitions_left, original=query) if told else query]


def _looks_back(condition: Expr) -> bool:
    return any(isinstance(node, RawCall) and node.name.upper() == "PREV" for node in condition.walk())


def _read(definition: Definition, query: TpstreamQuery) -> Streams:
    return query.streams if definition.stream is None else (definition.stream,)


def _as_said(stream: StreamName, query: TpstreamQuery) -> StreamName:
    """With the columns of its interval, which may be said at another place."""
    same = [other for other in streams_of(query) if other.name.lower() == stream.name.lower()]
    said = next((other for other in same if other.start is not None), stream)
    return replace(stream, start=said.start, end=said.end)


def _told(query: TpstreamQuery, streams: Streams, definitions: tuple[Definition, ...]) -> ToldEvents:
    """Its name is another one in each query of a text, of which all but the last have names, and the same wherever the text is compiled."""
    names = ", ".join(definition.name for definition in definitions)
    owners = {definition.name.lower() for definition in definitions}
    columns = dict.fromkeys(column for item in query.returns for column in _columns_of(item.expr, owners, not query.has_pattern))
    published = Composite(f"events for {names}" + ("" if query.published is None else f" of {query.published.name}"), definitions[0].span)
    return ToldEvents(
        streams,
        tuple(replace(definition, stream=None) for definition in definitions),
        query.partition,
        tuple(columns),
        published,
        query.text,
        definitions[0].span,
    )


def _columns_of(expr: Expr, owners: set[str], each: bool) -> list[str]:
    """Those that are asked of these definitions; `each`: also of no definition by its name. Of a struct all."""
    named = [node for node in expr.walk() if isinstance(node, RawColumn)]
    owned = [column.parts[1] for column in named if len(column.parts) > 1 and column.parts[0].lower() in owners]
    return owned + ([column.parts[0] for column in named if each and column.parts[0].lower() not in owners])


def _moved(definition: Definition, told: ToldEvents) -> Definition:
    """The same, of the events that are told."""
    first = told.streams[0]
    stream = StreamName(told.published.name, first.start, first.end, definition.span)
    return replace(definition, stream=stream, condition=RawColumn((_told_in(definition),), span=definition.span))


def _told_in(definition: Definition) -> str:
    """The column that tells whether the condition holds."""
    return f"{definition.name} holds"


def lower_told(tree: ToldEvents, schemas: Mapping[str, Schema], time: Times | None, composites: Mapping[str, str]) -> MatchQuery:
    """Every row is a match, which lasts no time."""
    whole = TpstreamQuery(tree.streams, tree.definitions, (), partition=tree.partition, span=tree.span, text=tree.text)
    sources = read_sources(whole, schemas, time, composites)
    stream, names = sources.stream, sources.common
    partition = lower_partition(tree.partition, sources)
    starts = [start for definition in tree.definitions if (start := sources.start_of(definition)) is not None]
    known = sources.columns_of(names)
    asked = [own for column in tree.columns if (own := known.find(column)) is not None]  # the others are errors where they are
    shown = [column for column in dict.fromkeys((stream.time, *starts, *asked)) if column not in partition]
    measures = [Measure(column, infer(current(Field(column)), stream.schema)) for column in shown]
    measures += [Measure(_told_in(one), lower_condition(one.condition or Literal(True), one, sources)) for one in tree.definitions]
    return MatchQuery(
        stream=stream.name,
        schema=stream.schema,
        pattern=Variable("EVENT"),
        definitions=(),
        selection=Selection.PREFERRED,
        time=stream.time,
        order=tuple(OrderKey(column) for column in (stream.time, stream.stream_number) if column is not None),
        partition=partition,
        within=Within(0),
        measures=tuple(measures),
        measured_partition=True,
        parts=stream.parts,
        type_column=stream.type_column,
        stream_number=stream.stream_number,
    )


def render_told(tree: ToldEvents) -> str:
    """No text says it: the query that reads it is rendered as it was, and makes it anew."""
    streams = ", ".join(render_name(stream.name) for stream in tree.streams)
    return f"-- the events of {streams}, and of each whether it is one of {', '.join(render_name(one.name) for one in tree.definitions)}"
