"""TPStream as an entry of the registry."""

from __future__ import annotations

from ostinato.algebra.query import MatchQuery
from ostinato.algebra.situations import MatchIntervals, SituationStream
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.language import Language
from ostinato.lang.parsed_query import ParsedQuery
from ostinato.lang.situations.relations import stands_between
from ostinato.lang.streams.known_streams import KnownStreams
from ostinato.lang.tpstream.lower import lower
from ostinato.lang.tpstream.parse import parse_queries
from ostinato.lang.tpstream.recognise import recognise
from ostinato.lang.tpstream.render import render
from ostinato.lang.tpstream.syntax import TpstreamQuery, streams_of
from ostinato.lang.tpstream.told_events import ToldEvents, lower_told, render_told, separated

Tree = TpstreamQuery | ToldEvents


def _parse(text: str, options: CompileOptions) -> tuple[ParsedQuery[Tree], ...]:
    return tuple(map(_parsed, separated(parse_queries(text))))


def _parsed(tree: Tree) -> ParsedQuery[Tree]:
    if isinstance(tree, ToldEvents):
        return ParsedQuery(tree, span=tree.span, reads=tuple(stream.name for stream in tree.streams), composite=tree.published)
    places = {definition.name: definition.span for definition in tree.definitions}
    reads = tuple(stream.name for stream in streams_of(tree))
    said = tuple(constraint.span for constraint in tree.constraints)
    return ParsedQuery(tree, span=tree.span, places=places, constraints=said, reads=reads, composite=tree.published)


def _lower(tree: Tree, streams: KnownStreams, options: CompileOptions) -> MatchQuery | MatchIntervals | SituationStream:
    if isinstance(tree, ToldEvents):
        return lower_told(tree, streams.schemas, options.time, streams.composites)
    return lower(tree, streams.schemas, options.time, options.latency, streams.composites)


def _render(tree: Tree) -> str:
    return render_told(tree) if isinstance(tree, ToldEvents) else render(tree)


TPSTREAM = Language(
    name="tpstream",
    title="TPStream",
    suffixes=(".tps",),
    sign="begins with FROM and has DEFINE",
    recognise=recognise,
    parse=_parse,
    lower=_lower,
    render=_render,
    naming="End it with PUBLISH name",
    continues=stands_between,
    options=frozenset(("time", "latency", "strategy", "budget", "lazy", "threads")),
    instead="is not for TPStream, which says it in its text",
    instead_hint="Leave it out: FROM names the streams, RETURN what is shown; latency='earliest' or 'final' says when",
)
