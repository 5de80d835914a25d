"""CEL as an entry of the registry."""

from __future__ import annotations

from ostinato.algebra.event_streams import EventQuery
from ostinato.lang.cel.lower import lower
from ostinato.lang.cel.parse import parse_queries
from ostinato.lang.cel.recognise import recognise
from ostinato.lang.cel.render import render
from ostinato.lang.cel.separate import separated
from ostinato.lang.cel.syntax import CelQuery, stream_names
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.language import Language
from ostinato.lang.parsed_query import ParsedQuery
from ostinato.lang.streams.known_streams import KnownStreams


def _parse(text: str, options: CompileOptions) -> tuple[ParsedQuery[CelQuery], ...]:
    queries, result = separated(parse_queries(text))
    return tuple(_parsed(query, query is result) for query in queries)


def _parsed(query: CelQuery, returned: bool) -> ParsedQuery[CelQuery]:
    reads = tuple(stream.name for stream in stream_names(query.body))
    return ParsedQuery(query, span=query.span, reads=reads, composite=query.published, returned=returned)


def _lower(tree: CelQuery, streams: KnownStreams, options: CompileOptions) -> EventQuery:
    return lower(tree, streams.schemas, options.time, streams.composites)


CEL = Language(
    name="cel",
    title="CEL",
    suffixes=(".cel",),
    sign="has FILTER {...}, NEXT {...}, FOLD {...} or PUBLISH",
    recognise=recognise,
    parse=_parse,
    lower=_lower,
    render=render,
    composition=None,
    options=frozenset(("time", "strategy", "budget", "lazy")),
    instead="is not for CEL, which says it in its text",
    instead_hint="Leave it out: streams are known by their names, and what counts is filtered and selected in the text",
)
