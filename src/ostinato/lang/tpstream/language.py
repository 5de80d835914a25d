"""TPStream as an entry of the registry."""

from __future__ import annotations

from ostinato.algebra.situations import MatchIntervals
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.language import Language
from ostinato.lang.parsed_query import ParsedQuery
from ostinato.lang.streams.known_streams import KnownStreams
from ostinato.lang.tpstream.lower import lower
from ostinato.lang.tpstream.parse import parse
from ostinato.lang.tpstream.recognise import recognise
from ostinato.lang.tpstream.render import render
from ostinato.lang.tpstream.syntax import TpstreamQuery, streams_of


def _parse(text: str, options: CompileOptions) -> tuple[ParsedQuery[TpstreamQuery], ...]:
    tree = parse(text)
    places = {definition.name: definition.span for definition in tree.definitions}
    return (ParsedQuery(tree, span=tree.span, places=places, reads=tuple(stream.name for stream in streams_of(tree))),)


def _lower(tree: TpstreamQuery, streams: KnownStreams, options: CompileOptions) -> MatchIntervals:
    return lower(tree, streams.schemas, options.time, options.latency, streams.composites)


TPSTREAM = Language(
    name="tpstream",
    title="TPStream",
    suffixes=(".tps",),
    sign="begins with FROM and has DEFINE and PATTERN",
    recognise=recognise,
    parse=_parse,
    lower=_lower,
    render=render,
    options=frozenset(("time", "latency", "strategy", "budget", "lazy", "threads")),
    instead="is not for TPStream, which says it in its text",
    instead_hint="Leave it out: FROM names the streams, RETURN what is shown; latency='earliest' or 'final' says when",
)
