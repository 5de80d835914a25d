"""What makes a match an event that other queries can read: a name, a type, and the time at which it is complete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ostinato.algebra.pattern import may_be_empty
from ostinato.algebra.policies import Output, RowsPerMatch
from ostinato.algebra.query import MatchQuery, Measure
from ostinato.base.errors import QuerySyntaxError, TypeMismatchError, UnsupportedError
from ostinato.base.span import Span
from ostinato.expr.nodes import Anchor, Field, Literal, Nav
from ostinato.expr.typing.infer import infer
from ostinato.lang.parsed_query import Composite
from ostinato.lang.streams.merge_streams import TYPE_COLUMN
from ostinato.lang.streams.stream import Stream


def as_event(
    composite: Composite, stream: Stream, output: Output, measures: Mapping[str, Measure], spans: Mapping[str, Span]
) -> dict[str, Measure]:
    """The columns of the event, by their names in lower case, as `measures` are, its attributes, and their places in the text, `spans`.
    One of the attributes may be the time itself."""
    return _type_and_time(composite, stream, output) | _checked(measures, spans, stream)


def type_column(stream: Stream) -> str:
    """Where a composite event tells its type: as the events do that it is made of."""
    return stream.type_column or TYPE_COLUMN


def with_time(query: MatchQuery, composite: Composite) -> MatchQuery:
    """A query whose matches show what its text says, as one that returns events: each has the time of its last row, unless it shows another
    by that name."""
    reason = "the rows have no time" if query.time is None else None
    if query.rows_per_match is not RowsPerMatch.ONE:
        reason = "it returns several rows for a match"
    if may_be_empty(query.pattern):
        reason = "a match without rows has no time"
    if query.time is None or reason is not None:
        raise UnsupportedError(
            f"What this returns cannot be an event `{composite.name}`: {reason}",
            hint="ORDER BY a time, ascending, first, ONE ROW PER MATCH, and a pattern that maps a row at least",
            span=composite.span,
        )
    time, measures = query.time, query.measures or ()
    shown = {measure.name.lower() for measure in measures} | {column.lower() for column in query.partition}
    if time.lower() in shown:
        return query
    last = Measure(time, infer(Nav(None, Anchor.LAST, 0, 0, Field(time)), query.schema))
    return replace(query, measures=(*measures, last))


def _type_and_time(composite: Composite, stream: Stream, output: Output) -> dict[str, Measure]:
    if output in (Output.COUNT, Output.AGGREGATES, Output.TIMEOUTS):
        returned = "what did not become a match" if output is Output.TIMEOUTS else "one row about all matches"
        raise UnsupportedError(
            f"OUTPUT {output.value} returns {returned}, and no event `{composite.name}` for each",
            hint="Leave the name of the event out, or use OUTPUT all",
            span=composite.span,
        )
    time = Nav(None, Anchor.LAST, 0, 0, Field(stream.time))
    kind = Measure(type_column(stream), infer(Literal(composite.name), stream.schema))
    return {kind.name.lower(): kind, stream.time.lower(): Measure(stream.time, infer(time, stream.schema))}


def _checked(measures: Mapping[str, Measure], spans: Mapping[str, Span], stream: Stream) -> dict[str, Measure]:
    kind, time = type_column(stream), measures.get(stream.time.lower())
    if kind.lower() in measures:
        raise QuerySyntaxError(
            f"`{kind}` is where the event tells its type", hint="Give the attribute another name with AS", span=spans[kind.lower()]
        )
    if time is not None and (time.expr.type is None or time.expr.type.kind is not stream.time_type.kind):
        raise TypeMismatchError(
            f"`{time.name}` is the time of the event, but this is of type {time.expr.type}",
            hint="Give the attribute another name with AS: without one of this name the event has the time of its last event",
            span=spans[stream.time.lower()],
        )
    return dict(measures)
