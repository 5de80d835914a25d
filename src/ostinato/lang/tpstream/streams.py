"""The streams of a TPStream query: one, or several merged by time; and which of them a definition reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ostinato.algebra.situations import END, START
from ostinato.base.errors import QuerySyntaxError, SchemaError
from ostinato.base.span import Span
from ostinato.expr.nodes import Field
from ostinato.expr.typing.infer import unknown_column
from ostinato.expr.typing.schema import Schema
from ostinato.lang.streams.given_streams import DEFAULT_TIME, Given, Times, given_streams, stream_named, timed
from ostinato.lang.streams.merge_streams import merge_streams
from ostinato.lang.streams.stream import Stream
from ostinato.lang.tpstream.syntax import Definition, Name, StreamName, TpstreamQuery, streams_of


@dataclass(frozen=True)
class Sources:
    """What a query reads. `stream` is all of it; `starts` are the streams whose rows last, each with the column of their starts in
    `stream`; `common` are those that FROM names, which definitions read that name none."""

    stream: Stream
    starts: Mapping[str, str]
    common: tuple[str, ...]
    schemas: Mapping[str, Schema]
    named: Mapping[StreamName, str]

    def of(self, definition: Definition) -> tuple[str, ...]:
        """The streams that it reads, by their own names."""
        return self.common if definition.stream is None else (self.named[definition.stream],)

    def start_of(self, definition: Definition) -> str | None:
        """The column of starts, where it reads rows that last."""
        names = self.of(definition)
        lasting = [name for name in names if name in self.starts]
        if not lasting:
            return None
        if len(names) > 1:
            hint = f"Say which: {definition.name} FROM {lasting[0]}"
            raise QuerySyntaxError(f"`{definition.name}` reads several streams, and the rows of one last", hint=hint, span=definition.span)
        return self.starts[lasting[0]]

    def columns_of(self, names: tuple[str, ...]) -> Schema:
        """What all of these streams have, by the names that the merged stream has for it."""
        merged = self.stream.schema
        shared = [set(self.schemas[name].names) for name in names]
        held = tuple(column for column in merged.columns if all(column[0] in own for own in shared))
        return Schema(held, merged.unusable)

    def column(self, column: Name, names: tuple[str, ...]) -> str:
        """Its own spelling, where all of these streams have it."""
        schema = self.columns_of(names)
        found = schema.find(column.name)
        if found is not None:
            return found
        for name in names:
            if self.stream.schema.find(column.name) is not None and self.schemas[name].find(column.name) is None:
                raise SchemaError(
                    f"Stream `{name}` has no column `{column.name}`", hint=f"All of {', '.join(names)} need it", span=column.span
                )
        raise unknown_column(column.name, schema, Field(column.name, span=column.span))


def read_sources(query: TpstreamQuery, schemas: Mapping[str, Schema], time: Times | None, composites: Mapping[str, str]) -> Sources:
    if not schemas:
        hint = f"Pass one, e.g. {query.streams[0].name.lower()}=table"
        raise SchemaError("No stream was given", hint=hint, span=query.streams[0].span)
    named = {stream: _name(stream, schemas) for stream in streams_of(query)}
    given = given_streams(schemas, None, time or DEFAULT_TIME, composites)
    lasting = _lasting(named)
    if time is None:
        lasting |= {name: found for name in named.values() if name not in lasting and (found := _by_default(given[name]))}
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
    if given.schema.find(given.time) is not None or START not in given.schema or END not in given.schema:
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
