"""Streams made of streams, by definition. Nothing here depends on the order in which events come: only their times count."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ostinato.algebra.event_streams import (
    DURATION,
    END,
    FIRST_EVENT,
    INSTANCE,
    SECOND_EVENT,
    START,
    EventExpression,
    EventQuery,
    EventStream,
    Filter,
    Fold,
    Next,
    Project,
)
from ostinato.algebra.query import Measure
from ostinato.base.errors import DataError
from ostinato.expr.nodes import Aggregate, Classifier, Expr, Nav
from ostinato.expr.values.evaluate import evaluate
from ostinato.reference.stream import value_at

Values = dict[str, Any]
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Event:
    values: Values
    start: Any
    end: Any


class AtEvents:
    """The context of an expression: one event, or several by their decorators."""

    def __init__(self, fields: Values, **named: Values) -> None:
        self.fields = fields
        self.named = named

    def field(self, name: str) -> Any:
        return value_at(self.fields, name)

    def nav(self, node: Nav) -> Any:
        return evaluate(node.body, AtEvents(self.named[node.variable or ""]))

    def aggregate(self, node: Aggregate) -> Any:
        raise AssertionError("no clause has aggregates over rows")

    def match_number(self) -> int:
        raise AssertionError("events have no numbers")

    def classifier(self, node: Classifier) -> str | None:
        raise AssertionError("events have no variables")


def text_rows(queries: Sequence[EventQuery], streams: Mapping[str, Rows]) -> Rows:
    """The rows of the last of these queries, of which each may read what those before it publish."""
    known, found = dict(streams), Rows()
    for query in queries:
        found = event_rows(query, known)
        if query.published is not None:
            known[query.published] = found
    return found


def event_rows(query: EventQuery, streams: Mapping[str, Rows]) -> Rows:
    """What a query returns, in the order of detection: attributes, start and end."""
    events = sorted(_events(query.expression, streams), key=lambda event: event.end)
    return [{**event.values, START: event.start, END: event.end} for event in events]


def _events(expression: EventExpression, streams: Mapping[str, Rows]) -> list[Event]:
    match expression:
        case EventStream(name):
            return [_read(expression, row) for row in streams[name]]
        case Filter(item, condition):
            return [event for event in _events(item, streams) if _passes(condition, event)]
        case Project(item, attributes):
            return [Event(_measured(attributes, AtEvents(event.values)), event.start, event.end) for event in _events(item, streams)]
        case Next(first, second):
            later = _events(second, streams)
            return [found for event in _events(first, streams) for found in _followed(expression, event, later)]
    later = _events(expression.second, streams)
    return [found for event in _events(expression.first, streams) for found in _folded(expression, event, later)]


def _read(stream: EventStream, row: Values) -> Event:
    end = row[stream.time]
    start = end if stream.start is None else row[stream.start]
    if start is None or end is None:
        raise DataError(f"an event of stream {stream.name} has no time")
    if start > end:
        raise DataError(f"an event of stream {stream.name} ends before it starts")
    return Event({name: row[name] for name, _ in stream.schema.columns}, start, end)


def _passes(condition: Expr, event: Event) -> bool:
    length = event.end - event.start
    return evaluate(condition, AtEvents({**event.values, DURATION: length})) is True


def _measured(attributes: tuple[Measure, ...], context: AtEvents) -> Values:
    return {measure.name: evaluate(measure.expr, context) for measure in attributes}


def _nearest(later: list[Event], behind: Any, wanted: Callable[[Event], bool]) -> list[Event]:
    """Of those that start behind a time, and are wanted: all that are detected first."""
    coming = sorted((event for event in later if event.start > behind), key=lambda event: event.end)
    epochs = ([event for event in epoch if wanted(event)] for _, epoch in groupby(coming, key=lambda event: event.end))
    return next((epoch for epoch in epochs if epoch), [])


def _followed(expression: Next, first: Event, later: list[Event]) -> Iterator[Event]:
    def pair(second: Event) -> AtEvents:
        return AtEvents({}, **{FIRST_EVENT: first.values, SECOND_EVENT: second.values})

    for second in _nearest(later, first.end, lambda event: evaluate(expression.condition, pair(event)) is True):
        yield Event(_measured(expression.attributes, pair(second)), first.start, second.end)


def _folded(expression: Fold, first: Event, later: list[Event]) -> Iterator[Event]:
    """All successful steps from one event on. `waiting` are instances, each with the time of its last step."""
    waiting = [(first.values, first.end)]
    while waiting:
        instance, behind = waiting.pop()

        def seen(event: Event, instance: Values = instance) -> AtEvents:
            return AtEvents({}, **{FIRST_EVENT: first.values, INSTANCE: instance, SECOND_EVENT: event.values})

        for event in _nearest(later, behind, lambda event: evaluate(expression.relevant, seen(event)) is True):
            if evaluate(expression.step, seen(event)) is True:
                after = {**instance, **event.values, **_measured(expression.changes, seen(event))}
                yield Event(_measured(expression.attributes, seen(event, after)), first.start, event.end)
                waiting.append((after, event.end))
