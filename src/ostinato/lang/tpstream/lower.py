"""A TPStream tree to the algebra of situations. What the language leaves open is settled in docs/languages/tpstream.md."""

from __future__ import annotations

from collections.abc import Mapping

from ostinato.algebra.policies import Latency
from ostinato.algebra.query import OrderKey, Unit, Within
from ostinato.algebra.situations import DETECTED, END, START, MatchIntervals, Situations, SituationStream
from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.expr.typing.schema import Schema
from ostinato.lang.situations.definitions import check_names, lower_definition, lower_partition
from ostinato.lang.situations.returns import lower_returns
from ostinato.lang.situations.situation_stream import situation_stream
from ostinato.lang.situations.sources import Sources
from ostinato.lang.streams.given_streams import Times
from ostinato.lang.streams.stream import Stream
from ostinato.lang.streams.window import Window, lower_window
from ostinato.lang.tpstream.constraints import check_connected, lower_constraint
from ostinato.lang.tpstream.streams import read_sources
from ostinato.lang.tpstream.syntax import TpstreamQuery


def lower(
    tree: TpstreamQuery,
    schemas: Mapping[str, Schema],
    time: Times | None = None,
    latency: str | None = None,
    composites: Mapping[str, str] | None = None,
) -> MatchIntervals | SituationStream:
    """The query that `tree` means over these streams. `composites` are those of them that other queries of the text return."""
    try:
        sources = read_sources(tree, schemas, time, composites or {})
        return _lower(tree, sources, _latency(latency))
    except OstinatoError as error:
        error.within(tree.text)
        raise


def _lower(tree: TpstreamQuery, sources: Sources, latency: Latency) -> MatchIntervals | SituationStream:
    stream = sources.stream
    check_names(tree.definitions)
    constraints = tuple(lower_constraint(constraint, tree.definitions, stream) for constraint in tree.constraints)
    situations = Situations(
        stream=stream.name,
        schema=stream.schema,
        time=stream.time,
        definitions=tuple(lower_definition(definition, sources) for definition in tree.definitions),
        partition=lower_partition(tree.partition, sources),
        order=tuple(OrderKey(column) for column in (stream.time, stream.stream_number) if column is not None),
        parts=stream.parts,
        type_column=stream.type_column,
        stream_number=stream.stream_number,
    )
    if not tree.has_pattern:
        return _alone(tree, situations, sources)
    check_connected(tree)
    measures = lower_returns(tree.returns, tree.definitions, sources, (START, END, DETECTED), each=False)
    return MatchIntervals(situations, constraints, _within(tree.window, stream), latency, measures)


def _alone(tree: TpstreamQuery, situations: Situations, sources: Sources) -> SituationStream:
    """Without a pattern, the situations are what is returned."""
    if tree.window is not None:
        hint = "Without PATTERN each situation is a row; AT MOST bounds how long it lasts"
        raise QuerySyntaxError("WITHIN bounds the matches of a PATTERN", hint=hint, span=tree.window.span)
    return situation_stream(situations, tree.returns, tree.definitions, sources)


def _latency(latency: str | None) -> Latency:
    try:
        return Latency((latency or Latency.EARLIEST.value).lower())
    except ValueError:
        offered = " or ".join(f"{known.value!r}" for known in Latency)
        raise QuerySyntaxError(f"latency={latency!r} is unknown", hint=f"latency is {offered}") from None


def _within(window: Window | None, stream: Stream) -> Within | None:
    within = lower_window(window, stream.time, stream.time_type, in_events=False)
    if within is not None and within.unit is Unit.EVENTS:
        assert window is not None
        raise UnsupportedError("Windows of situations are in time", hint="WITHIN 5 MINUTES", span=window.span)
    return within
