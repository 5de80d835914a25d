"""Streams of events that last, and streams that are made of them: filtered, projected, one after another. Cayuga's algebra.

An event has attributes, a start and a detection time; its duration is the difference. What happens at one detection time is an epoch, in
which no order counts. Conditions on one stream speak of its attributes as `Field`; those on two as
`Nav(FIRST_EVENT | SECOND_EVENT | INSTANCE, Anchor.LAST, 0, 0, Field(attribute))`. `Field(DURATION)` is the duration of the event that a
filter looks at: an integer where times are integers, else an interval. No attribute has that name, and the time columns are no
attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ostinato.algebra.query import Measure
from ostinato.base.span import Span
from ostinato.expr.nodes import Expr, type_of
from ostinato.expr.types import Type, finer_unit
from ostinato.expr.typing.schema import Schema

FIRST_EVENT = "$1"  # of the two that are combined: what was there first
SECOND_EVENT = "$2"  # and what comes behind it
INSTANCE = "$"  # what the last step of a fold has made of the first one
DURATION = "$DUR"
START, END = "start_ts", "end_ts"  # the columns of a result that are no attributes; a stream of results is read by them


@dataclass(frozen=True)
class EventStream:
    """The events of a stream, given or published. `schema` are its attributes, `time` is the column of detection times, of `time_type`,
    `start` that of starts; None: its events do not last."""

    name: str
    schema: Schema
    time: str
    time_type: Type
    start: str | None = None


@dataclass(frozen=True)
class Filter:
    """Those of its events that satisfy a condition."""

    item: EventExpression
    condition: Expr


@dataclass(frozen=True)
class Project:
    """Its events with other attributes; their times stay."""

    item: EventExpression
    attributes: tuple[Measure, ...]


@dataclass(frozen=True)
class Next:
    """Each event of the first with the next event of the second that starts behind it and satisfies the condition; of several that are
    detected at the same time, with each. `attributes` are those of the result, computed from both; it lasts from the start of the one to
    the detection of the other."""

    first: EventExpression
    second: EventExpression
    condition: Expr
    attributes: tuple[Measure, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Fold:
    """Each event of the first begins an instance. The next event of the second that starts behind the instance's last step and is
    `relevant` is a step, if `step` holds: it gives the instance the attributes `changes`, all others of the second stream's names from the
    event, and is a result; if not, the instance ends. Of several relevant ones that are detected at the same time, each goes on by itself.
    `attributes` are those of the result, computed from the first event, the instance after the step, and the event. An attribute has one
    type in all of them."""

    first: EventExpression
    second: EventExpression
    relevant: Expr
    step: Expr
    changes: tuple[Measure, ...]
    attributes: tuple[Measure, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


EventExpression = EventStream | Filter | Project | Next | Fold


@dataclass(frozen=True)
class EventQuery:
    """The events of an expression are the result: attributes, `start_ts`, `end_ts`. What `published` names is a stream for other queries.
    Second operands are streams, filtered and projected or not: what is combined there is a query of its own, linked by a stream."""

    expression: EventExpression
    published: str | None = None

    @property
    def time(self) -> str:
        """The column of its results that tells when they are detected."""
        return END


def streams_of(expression: EventExpression) -> Iterator[EventStream]:
    """Those that an expression reads, from the left; one that is read twice comes twice."""
    match expression:
        case EventStream():
            yield expression
        case Filter(item) | Project(item):
            yield from streams_of(item)
        case Next(first, second) | Fold(first, second):
            yield from streams_of(first)
            yield from streams_of(second)


def attributes_of(expression: EventExpression) -> tuple[tuple[str, Type], ...]:
    """The attributes of its events, in order, with their types."""
    match expression:
        case EventStream():
            return expression.schema.columns
        case Filter(item):
            return attributes_of(item)
    return tuple((measure.name, type_of(measure.expr)) for measure in expression.attributes)


def time_type_of(expression: EventExpression) -> Type:
    """Holds the times of all streams that it reads, which are of one kind."""
    found, *others = (stream.time_type for stream in streams_of(expression))
    for other in others:
        if other != found:
            found = replace(found, bits=64, signed=True, zone=found.zone and "UTC", unit=finer_unit(found, other))
    return found
