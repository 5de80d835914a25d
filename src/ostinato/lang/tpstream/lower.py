"""A TPStream tree to the algebra of situations. What the language leaves open is settled in docs/languages/tpstream.md."""

from __future__ import annotations

from collections.abc import Mapping

from ostinato.algebra.policies import Latency
from ostinato.algebra.query import OrderKey, Unit, Within
from ostinato.algebra.situations import Duration, MatchIntervals, SituationDefinition, Situations
from ostinato.base.errors import OstinatoError, QuerySyntaxError, TypeMismatchError, UnsupportedError
from ostinato.expr.nodes import Expr, Literal
from ostinato.expr.types import BOOL
from ostinato.expr.typing.schema import Schema
from ostinato.lang.streams.given_streams import Times
from ostinato.lang.streams.stream import Stream
from ostinato.lang.streams.window import Window, length_of_what_lasts, lower_window
from ostinato.lang.tpstream.conditions import lower_condition
from ostinato.lang.tpstream.constraints import check_connected, lower_constraint
from ostinato.lang.tpstream.returns import lower_returns
from ostinato.lang.tpstream.streams import Sources, read_sources
from ostinato.lang.tpstream.syntax import Definition, Lasting, TpstreamQuery


def lower(
    tree: TpstreamQuery,
    schemas: Mapping[str, Schema],
    time: Times | None = None,
    latency: str | None = None,
    composites: Mapping[str, str] | None = None,
) -> MatchIntervals:
    """The query that `tree` means over these streams. `composites` are those of them that other queries of the text return."""
    try:
        sources = read_sources(tree, schemas, time, composites or {})
        return _lower(tree, sources, _latency(latency))
    except OstinatoError as error:
        error.within(tree.text)
        raise


def _lower(tree: TpstreamQuery, sources: Sources, latency: Latency) -> MatchIntervals:
    stream = sources.stream
    _check_names(tree)
    constraints = tuple(lower_constraint(constraint, tree.definitions, stream) for constraint in tree.constraints)
    check_connected(tree)
    situations = Situations(
        stream=stream.name,
        schema=stream.schema,
        time=stream.time,
        definitions=tuple(_definition(definition, sources) for definition in tree.definitions),
        partition=_partition(tree, sources),
        order=tuple(OrderKey(column) for column in (stream.time, stream.stream_number) if column is not None),
        parts=stream.parts,
        type_column=stream.type_column,
        stream_number=stream.stream_number,
    )
    return MatchIntervals(situations, constraints, _within(tree.window, stream), latency, lower_returns(tree, sources))


def _latency(latency: str | None) -> Latency:
    try:
        return Latency((latency or Latency.EARLIEST.value).lower())
    except ValueError:
        offered = " or ".join(f"{known.value!r}" for known in Latency)
        raise QuerySyntaxError(f"latency={latency!r} is unknown", hint=f"latency is {offered}") from None


def _check_names(tree: TpstreamQuery) -> None:
    seen: dict[str, Definition] = {}
    for definition in tree.definitions:
        if definition.name.lower() in seen:
            raise QuerySyntaxError(f"`{definition.name}` is defined twice", hint="Names differ in more than case", span=definition.span)
        seen[definition.name.lower()] = definition


def _partition(tree: TpstreamQuery, sources: Sources) -> tuple[str, ...]:
    """Every stream has these columns: its events are of a partition."""
    found: dict[str, None] = {}
    for column in tree.partition:
        own = sources.column(column, tuple(sources.schemas))
        if own in found:
            raise QuerySyntaxError(f"PARTITION BY names `{own}` twice", hint="Leave one of them out", span=column.span)
        if not sources.stream.schema.type_of(own).is_computable:
            message = f"`{own}` is of type {sources.stream.schema.type_of(own)}, and cannot be a key"
            raise TypeMismatchError(message, hint="Partition by a plain column, or by a field of a struct", span=column.span)
        found[own] = None
    return tuple(found)


def _within(window: Window | None, stream: Stream) -> Within | None:
    within = lower_window(window, stream.time, stream.time_type)
    if within is not None and within.unit is Unit.EVENTS:
        assert window is not None
        raise UnsupportedError("Windows of situations are in time", hint="WITHIN 5 MINUTES", span=window.span)
    return within


def _definition(definition: Definition, sources: Sources) -> SituationDefinition:
    names, start = sources.of(definition), sources.start_of(definition)
    condition, lasting = _condition(definition, sources, given=start is not None)
    return SituationDefinition(
        definition.name,
        condition,
        _duration(lasting, sources.stream),
        names if len(names) < len(sources.schemas) else (),
        start,
    )


def _condition(definition: Definition, sources: Sources, given: bool) -> tuple[Expr, Lasting | None]:
    """BETWEEN behind a complete condition is its duration."""
    if definition.condition is None:
        if not given:
            hint = f"DEFINE {definition.name} AS ...; only rows that last, of a stream INTERVAL (start, end), need none"
            raise QuerySyntaxError(f"`{definition.name}` has no condition", hint=hint, span=definition.span)
        return Literal(True, type=BOOL), definition.lasting
    if definition.compared is None:
        return lower_condition(definition.condition, definition, sources), definition.lasting
    try:
        return lower_condition(definition.condition, definition, sources), definition.lasting
    except TypeMismatchError:
        return lower_condition(definition.compared, definition, sources), None


def _duration(lasting: Lasting | None, stream: Stream) -> Duration:
    if lasting is None:
        return Duration()
    both = lasting.at_least is not None and lasting.at_most is not None
    least = None if lasting.at_least is None else _length(lasting.at_least, "BETWEEN" if both else "AT LEAST", stream, up=True)
    most = None if lasting.at_most is None else _length(lasting.at_most, "AND" if both else "AT MOST", stream)
    if least is not None and most is not None and least > most:
        raise QuerySyntaxError("No situation lasts so long and so short", hint="Turn the bounds round", span=lasting.span)
    if most == 0:
        raise QuerySyntaxError("Every situation lasts longer than this", hint="What ends when it starts is no situation", span=lasting.span)
    return Duration(least, most)


def _length(window: Window, clause: str, stream: Stream, up: bool = False) -> int:
    if window.unit == "event":
        raise UnsupportedError("Durations are in time", hint=f"{clause} 5 SECONDS", span=window.span)
    return length_of_what_lasts(window, clause, stream.time, stream.time_type, up)
