"""The streams that the caller gives: which column is the time, and which, if any, tells the event type; and those that a query reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from ostinato.base.errors import SchemaError, UnknownNameError
from ostinato.base.span import Span
from ostinato.expr.types import Kind, Type
from ostinato.expr.typing.schema import Schema
from ostinato.lang.streams.stream import EventOf

Times = str | Mapping[str, str]
DEFAULT_TIME = "ts"


@dataclass(frozen=True)
class Given:
    """A stream as the caller gives it. `type_column` None: all its events are of the type that it is named after."""

    name: str
    schema: Schema
    time: str
    type_column: str | None = None

    @property
    def time_type(self) -> Type:
        return self.schema.type_of(self.time)


def given_streams(schemas: Mapping[str, Schema], type_by: str | None, time: Times, composites: Mapping[str, str]) -> dict[str, Given]:
    """The streams by name. `composites` are the names of earlier queries' events, each with its time column."""
    times = _times(schemas, time, composites)
    found = {}
    for name, schema in schemas.items():
        own = None if type_by is None or name in composites else schema.find(type_by)
        found[name] = Given(name, schema, times[name], None if own is None else _string(name, schema, own))
    if type_by is not None and not any(stream.type_column for stream in found.values()):
        raise _no_type_column(schemas, composites, type_by)
    return found


def used_streams(events: Sequence[EventOf], given: Mapping[str, Given]) -> tuple[dict[str, Given | None], list[Given]]:
    """Where the events of each type come from (None: from the streams with a type column), and the streams that the query reads; their
    time columns are checked."""
    homes = {event.event_type: _home(event, given) for event in events}
    named = [stream for stream in homes.values() if stream is not None]
    used = [stream for stream in given.values() if stream in named or (stream.type_column is not None and None in homes.values())]
    return homes, [timed(stream) for stream in used]


def _home(event: EventOf, given: Mapping[str, Given]) -> Given | None:
    """The stream of this name; else any with a type column."""
    wanted = event.event_type
    plain = {name: stream for name, stream in given.items() if stream.type_column is None}
    if wanted in plain:
        return plain[wanted]
    folded = [name for name in plain if name.lower() == wanted.lower()]
    if len(folded) == 1:
        return plain[folded[0]]
    if folded:
        raise UnknownNameError(f"`{wanted}` could be any of the streams {', '.join(folded)}", span=event.span)
    if len(plain) < len(given):
        return None
    raise UnknownNameError(
        f"There is no stream for the event type `{wanted}`",
        detail=f"Streams: {', '.join(given)}",
        hint=f"Pass it as {wanted.lower()}=..., or, where one stream carries several event types, name the type column with type_by=...",
        span=event.span,
    )


def _times(schemas: Mapping[str, Schema], time: Times, composites: Mapping[str, str]) -> dict[str, str]:
    if isinstance(time, str):
        return {name: composites.get(name, time) for name in schemas}
    known = {name.lower(): name for name in schemas}
    for name in time:
        if name.lower() not in known:
            raise SchemaError(f"time= names the stream `{name}`, which was not given", detail=f"Streams: {', '.join(schemas)}")
    chosen = {known[name.lower()]: column for name, column in time.items()}
    return {name: chosen.get(name, composites.get(name, DEFAULT_TIME)) for name in schemas}


def stream_named(name: str, schemas: Mapping[str, Schema], span: Span, passing: str) -> str:
    """Its own spelling: an exact match first, else the only one that differs in case alone. `passing` is a hint: where it could come
    from."""
    if name in schemas:
        return name
    named = [own for own in schemas if own.lower() == name.lower()]
    if len(named) == 1:
        return named[0]
    if named:
        raise UnknownNameError(f"`{name}` could be any of the streams {', '.join(named)}", span=span)
    close = get_close_matches(name.lower(), [own.lower() for own in schemas], 1)
    hint = f"Did you mean `{next(own for own in schemas if own.lower() == close[0])}`?" if close else passing
    detail = f"Streams: {', '.join(schemas) or 'none'}"
    raise UnknownNameError(f"There is no stream `{name}`", detail=detail, hint=hint, span=span)


def timed(stream: Given) -> Given:
    """The same with the spelling of its time column, which is there and can be ordered."""
    found = stream.schema.find(stream.time)
    if found is None:
        raise SchemaError(
            f"Stream `{stream.name}` has no time column `{stream.time}`",
            detail=f"Columns: {', '.join(stream.schema.names)}",
            hint="Name the time column with time=...",
        )
    kind = stream.schema.type_of(found).kind
    if kind not in (Kind.TIMESTAMP, Kind.INT):
        raise SchemaError(
            f"The time column `{found}` of stream `{stream.name}` is of type {stream.schema.type_of(found)}",
            hint="Time is a timestamp or an integer; cast the column first",
        )
    return Given(stream.name, stream.schema, found, stream.type_column)


def _no_type_column(schemas: Mapping[str, Schema], composites: Mapping[str, str], type_by: str) -> SchemaError:
    own = [name for name in schemas if name not in composites]
    return SchemaError(
        f"Stream `{own[0]}` has no column `{type_by}` (type_by)" if len(own) == 1 else f"No stream has a column `{type_by}` (type_by)",
        detail=f"Columns: {', '.join(schemas[own[0]].names)}" if len(own) == 1 else f"Streams: {', '.join(own)}",
        hint="type_by names the column that holds the event type",
    )


def _string(name: str, schema: Schema, column: str) -> str:
    if schema.type_of(column).kind is not Kind.STRING:
        shown = schema.type_of(column)
        raise SchemaError(f"The type column `{column}` of stream `{name}` is of type {shown}", hint="type_by needs a string column")
    return column
