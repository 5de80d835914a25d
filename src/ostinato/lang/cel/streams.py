"""The streams that a CEL query reads: which columns are their times, and which their attributes."""

from __future__ import annotations

from collections.abc import Mapping

from ostinato.algebra.event_streams import DURATION, END, START, EventStream
from ostinato.base.errors import SchemaError
from ostinato.expr.types import Type
from ostinato.expr.typing.schema import Schema
from ostinato.lang.cel.syntax import StreamName
from ostinato.lang.streams.given_streams import DEFAULT_TIME, Given, Times, given_streams, stream_named, timed
from ostinato.lang.streams.merge_streams import common_type


def event_stream(stream: StreamName, schemas: Mapping[str, Schema], time: Times | None, composites: Mapping[str, str]) -> EventStream:
    passing = f"Pass it as {stream.name.lower()}=..., or publish it with PUBLISH {stream.name}"
    name = stream_named(stream.name, schemas, stream.span, passing)
    try:
        given = timed(_given(name, schemas, time, composites))
        start = given.schema.find(START) if given.time.lower() == END else None
        _check_start(given, start)
    except SchemaError as error:
        error.span = stream.span
        raise
    attributes = tuple(column for column in given.schema.columns if column[0] not in (given.time, start))
    if any(own == DURATION for own, _ in attributes):
        raise SchemaError(
            f"Stream `{name}` has a column `{DURATION}`, and no attribute can be called so", hint="Rename it", span=stream.span
        )
    return EventStream(name, Schema(attributes, given.schema.unusable), given.time, given.time_type, start)


def _given(name: str, schemas: Mapping[str, Schema], time: Times | None, composites: Mapping[str, str]) -> Given:
    """Events that last are known by both their times, unless something else is said."""
    found = given_streams(schemas, None, time or DEFAULT_TIME, composites)[name]
    said = time is not None and (isinstance(time, str) or name.lower() in (named.lower() for named in time))
    if not said and found.schema.find(found.time) is None and START in found.schema and END in found.schema:
        return Given(found.name, found.schema, END)
    return found


def _check_start(given: Given, start: str | None) -> None:
    if start is not None and common_type(given.schema.type_of(start), given.time_type) is None:
        raise SchemaError(
            f"Stream `{given.name}` has starts of type {given.schema.type_of(start)}, and times of type {given.time_type}",
            hint="Cast one of them: the start of an event is compared with the times of others",
        )


def check_times(read: Mapping[StreamName, EventStream]) -> None:
    """Times of one query can be compared with each other."""
    first: EventStream | None = None
    shared: Type | None = None
    for name, stream in read.items():
        if first is None or shared is None:
            first, shared = stream, stream.time_type
        met = common_type(shared, stream.time_type)
        if met is None or met.kind is not shared.kind:
            raise SchemaError(
                f"Stream `{first.name}` has a time of type {first.time_type}, stream `{stream.name}` one of type {stream.time_type}",
                hint="Times that can be compared are all timestamps (with a zone, or without), or all integers",
                span=name.span,
            )
        shared = met
