"""NEEL as an entry of the registry."""

from __future__ import annotations

from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.events.with_options import with_options
from ostinato.lang.language import Language
from ostinato.lang.neel.lower import lower
from ostinato.lang.neel.parse import parse_queries
from ostinato.lang.neel.recognise import recognise
from ostinato.lang.neel.render import render
from ostinato.lang.neel.syntax import NeelQuery, all_events
from ostinato.lang.parsed_query import ParsedQuery


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


NEEL = Language(
    name="neel",
    title="NEEL",
    suffixes=(".neel",),
    sign="begins with PATTERN and has AND(...), !B b or conditions inside of it",
    recognise=recognise,
    parse=_parse,
    lower=with_options(lower),
    render=render,
    naming="Name them: RETURN Name(a.x, b.y AS z)",
)
