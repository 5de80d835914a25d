"""NEEL as an entry of the registry."""

from __future__ import annotations

from ostinato.algebra.query import MatchQuery
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.language import Language
from ostinato.lang.neel.lower import lower
from ostinato.lang.neel.parse import parse_queries
from ostinato.lang.neel.recognise import recognise
from ostinato.lang.neel.render import render
from ostinato.lang.neel.syntax import NeelQuery, all_events
from ostinato.lang.parsed_query import ParsedQuery
from ostinato.lang.streams.given_streams import DEFAULT_TIME
from ostinato.lang.streams.known_streams import KnownStreams


def _parse(text: str, options: CompileOptions) -> tuple[ParsedQuery[NeelQuery], ...]:
    return tuple(_parsed(tree) for tree in parse_queries(text))


def _parsed(tree: NeelQuery) -> ParsedQuery[NeelQuery]:
    events = all_events(tree.pattern)
    return ParsedQuery(
        tree,
        span=tree.pattern.span,
        places={event.variable: event.span for event in events},
        reads=tuple(event.event_type for event in events),
        composite=tree.composite,
    )


def _lower(tree: NeelQuery, streams: KnownStreams, options: CompileOptions) -> MatchQuery:
    return lower(
        tree,
        streams.schemas,
        type_by=options.type_by,
        time=options.time or DEFAULT_TIME,
        output=options.output,
        ties=options.ties,
        composites=streams.composites,
    )


NEEL = Language(
    name="neel",
    title="NEEL",
    suffixes=(".neel",),
    sign="begins with PATTERN and has AND(...), !B b or conditions inside of it",
    recognise=recognise,
    parse=_parse,
    lower=_lower,
    render=render,
    naming="Name them: RETURN Name(a.x, b.y AS z)",
)
