"""The streams that a TPStream query names, and which of them have rows that last."""

from __future__ import annotations

from collections.abc import Mapping

from ostinato.algebra.situations import END, START
from ostinato.base.errors import QuerySyntaxError, SchemaError
from ostinato.base.span import Span
from ostinato.expr.nodes import Field
from ostinato.expr.typing.infer import unknown_column
from ostinato.expr.typing.schema import Schema
from ostinato.lang.situations.sources import Sources
from ostinato.lang.situations.syntax import Name, StreamName
from ostinato.lang.streams.given_streams import DEFAULT_TIME, Given, Times, given_streams, stream_named, timed
from ostinato.lang.streams.merge_streams import merge_streams
from ostinato.lang.streams.stream import Stream
from ostinato.lang.tpstream.syntax import TpstreamQuery, streams_of


def read_sources(query: TpstreamQuery, schemas: Mapping[str, Schema], time: Times | None, composites: Mapping[str, str]) -> Sources:
    if not schemas:
        hint = f"Pass one, e.g. {query.streams[0].name.lower()}=table"
        raise SchemaError("No stream was given", hint=hint, span=query.streams[0].span)
    named = {stream: _name(stream, schemas) for stream in streams_of(query)}
    given = given_streams(schemas, None, time or DEFAULT_TIME, composites)
    lasting = _lasting(named)
    left_open = [name for name in named.values() if name not in lasting and (time is None or name in composites)]
    lasting |= {name: found for name in left_open if (found := _by_default(given[name]))}
    spans = {name: stream.span for stream, name in reversed(named.items())}
    used = [_used(given[name], lasting.get(name), spans[name]) for name in schemas if name in named.values()]
    stream = _stream(used, spans)
    own = {one.name: stream.schemas.get(one.name, stream.schema) for one in used}
    starts = {name: _start(stream, own[name], said) for name, said in lasting.items()}
    return Sources(stream, starts, tuple(dict.fromkeys(named[stream] for stream in query.streams)), own, named)


def _name(stream: StreamName, schemas: Mapping[str, Schema]) -> str:
    return stream_named(stream.name, schemas, stream.span, f"Pass it as {stream.name.lower()}=...")


def _lasting(named: Mapping[StreamName, str]) -> dict[str, StreamName]:
    """The streams whose rows last, with the place that says so. It is said everywhere, or once."""
    found: dict[str, StreamName] = {}
    for stream, name in named.items():
        if stream.start is None:
            continue
        before = found.setdefault(name, stream)
        if before != stream:
            hint = "Say it once, where FROM names the stream"
            raise QuerySyntaxError(f"The rows of stream `{name}` last in two ways", hint=hint, span=stream.span)
    return found


def _by_default(given: Given) -> StreamName | None:
    """Rows with the columns of a result of situations last, if nothing else is their time."""
    if START not in given.schema or END not in given.schema:
        return None
    if given.time.lower() != END and given.schema.find(given.time) is not None:
        return None
    return StreamName(given.name, Name(START), Name(END))


def _used(given: Given, lasting: StreamName | None, span: Span) -> Given:
    """Where rows last, their time is their end."""
    end = None if lasting is None else lasting.end
    if end is not None and given.schema.find(end.name) is None:
        raise unknown_column(end.name, given.schema, Field(end.name, span=end.span))
    try:
        return timed(given if end is None else Given(given.name, given.schema, end.name))
    except SchemaError as error:
        error.span = span if end is None else end.span
        raise


def _stream(used: list[Given], spans: Mapping[str, Span]) -> Stream:
    if len(used) == 1:
        return Stream(used[0].name, used[0].schema, used[0].time, None)
    return merge_streams(used, {stream.name: stream for stream in used}, spans)


def _start(stream: Stream, own: Schema, lasting: StreamName) -> str:
    assert lasting.start is not None
    found = own.find(lasting.start.name)
    if found is None:
        raise unknown_column(lasting.start.name, own, Field(lasting.start.name, span=lasting.start.span))
    if own.type_of(found) != stream.time_type:
        raise SchemaError(
            f"The starts in `{found}` are of type {own.type_of(found)}, and the times of the query of type {stream.time_type}",
            hint="Cast one of them: starts are compared with all ends",
            span=lasting.start.span,
        )
    return found
