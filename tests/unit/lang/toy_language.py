"""A language of a few lines: `TOY a THEN b WITHIN 10`, events of these types one after the other; `AS Pair` names what is found, for later
queries of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ostinato.algebra.pattern import Sequence, Variable
from ostinato.algebra.policies import Output, Selection
from ostinato.algebra.query import Definition, MatchQuery, OrderKey
from ostinato.base.errors import QuerySyntaxError
from ostinato.base.span import Span
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.language import Language
from ostinato.lang.parsed_query import Composite, ParsedQuery
from ostinato.lang.registry import register, unregister
from ostinato.lang.streams.choose_stream import choose_stream
from ostinato.lang.streams.composite_event import as_event
from ostinato.lang.streams.known_streams import KnownStreams
from ostinato.lang.streams.window import Window, lower_window, window_unit

QUERY = re.compile(r"\s*TOY (?P<events>\w+(?: THEN \w+)*)(?: WITHIN (?P<length>\d+)(?: (?P<unit>\w+))?)?(?: AS (?P<name>\w+))?\s*(?:;|$)")


@dataclass(frozen=True)
class Wanted:
    event_type: str
    span: Span


@dataclass(frozen=True)
class ToyQuery:
    events: tuple[Wanted, ...]
    window: Window | None
    name: str | None


def parse(text: str, options: CompileOptions) -> tuple[ParsedQuery[ToyQuery], ...]:
    found, at = [], 0
    while at < len(text):
        query = QUERY.match(text, at)
        if query is None:
            raise QuerySyntaxError("This is no TOY query", span=Span(at, len(text)))
        found.append(_parsed(query))
        at = query.end()
    return tuple(found)


def _parsed(query: re.Match[str]) -> ParsedQuery[ToyQuery]:
    span = Span(*query.span("events"))
    events = tuple(
        Wanted(word[0], Span(*word.span()).moved(span.start)) for word in re.finditer(r"\w+", query["events"]) if word[0] != "THEN"
    )
    unit = window_unit(query["unit"]) if query["unit"] else None
    window = Window(query["length"], unit, Span(*query.span("length"))) if query["length"] else None
    composite = Composite(query["name"], Span(*query.span("name"))) if query["name"] else None
    reads = tuple(event.event_type for event in events)
    return ParsedQuery(ToyQuery(events, window, query["name"]), span, reads=reads, composite=composite)


def lower(tree: ToyQuery, streams: KnownStreams, options: CompileOptions) -> MatchQuery:
    stream = choose_stream(tree.events, streams.schemas, options.type_by, options.time or "ts", streams.composites)
    names = [f"v{number}" for number in range(1, len(tree.events) + 1)]
    return MatchQuery(
        stream=stream.name,
        schema=stream.schema,
        pattern=Sequence(tuple(Variable(name) for name in names)),
        definitions=tuple(Definition(name, (), stream.type_of(event)) for name, event in zip(names, tree.events, strict=True)),
        selection=Selection.NEXT,
        time=stream.time,
        order=tuple(OrderKey(column) for column in (stream.time, stream.stream_number) if column is not None),
        within=lower_window(tree.window, stream.time, stream.time_type),
        type_column=stream.type_column,
        measures=tuple(as_event(Composite(tree.name), stream, Output.ALL, {}, {}).values()) if tree.name else None,
        parts=stream.parts,
        stream_number=stream.stream_number,
    )


def render(tree: ToyQuery) -> str:
    window = "" if tree.window is None else f" WITHIN {tree.window.length}" + (f" {tree.window.unit}s" if tree.window.unit else "")
    return f"TOY {' THEN '.join(event.event_type for event in tree.events)}{window}" + (f" AS {tree.name}" if tree.name else "")


TOY = Language(
    name="toy",
    title="Toy",
    suffixes=(".toy",),
    sign="begins with TOY",
    recognise=lambda text: text.lstrip().startswith("TOY "),
    parse=parse,
    lower=lower,
    render=render,
    naming="Name them: AS Name",
    options=frozenset(("type_by", "time", "strategy", "budget")),
    instead="is not offered by Toy",
)


@contextmanager
def known(language: Language = TOY) -> Iterator[None]:
    """Registered as long as a test needs it."""
    register(language)
    try:
        yield
    finally:
        unregister(language.name)
