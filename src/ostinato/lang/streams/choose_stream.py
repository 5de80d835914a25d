"""The stream of a query: one of those that are given, or several of them merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ostinato.base.errors import SchemaError
from ostinato.expr.typing.schema import Schema
from ostinato.lang.streams.given_streams import DEFAULT_TIME, Times, given_streams, used_streams
from ostinato.lang.streams.merge_streams import merge_streams
from ostinato.lang.streams.stream import EventOf, Stream


def choose_stream(
    events: Sequence[EventOf],
    schemas: Mapping[str, Schema],
    type_by: str | None = None,
    time: Times = DEFAULT_TIME,
    composites: Mapping[str, str] | None = None,
) -> Stream:
    """What a pattern reads that asks for these `events`. An event type is the name of a stream, or a value of the column `type_by` in
    those streams that have it. `composites` are earlier queries' events, by name, with their time columns; `schemas` has them too."""
    if not schemas:
        raise SchemaError("No stream was given", hint=f"Pass one, e.g. {events[0].event_type.lower()}=table")
    homes, used = used_streams(events, given_streams(schemas, type_by, time, composites or {}))
    if len(used) == 1:
        only = used[0]
        return Stream(only.name, only.schema, only.time, only.type_column)
    spans = {home.name: event.span for event in reversed(events) if (home := homes[event.event_type]) is not None}
    return merge_streams(used, homes, spans)
