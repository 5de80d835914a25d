"""Several streams as one: the union of their columns by name, a time column that all share, a column that tells the event type, and one
that tells the stream, which decides ties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ostinato.algebra.parts import Part
from ostinato.base.errors import SchemaError
from ostinato.base.span import Span
from ostinato.expr.types import INT, STRING, Kind, Type, finer_unit
from ostinato.expr.typing.coerce import number_type, same_form
from ostinato.expr.typing.schema import Schema
from ostinato.lang.streams.given_streams import DEFAULT_TIME, Given
from ostinato.lang.streams.stream import Stream

TYPE_COLUMN = "event_type"
STREAM_NUMBER = "stream_number"


def merge_streams(used: Sequence[Given], homes: Mapping[str, Given | None], spans: Mapping[str, Span]) -> Stream:
    """`homes` tells which of them the events of each type come from, None: from those with a type column. `spans` are places in the text
    that ask for a stream, for errors."""
    columns = _union(used, spans)
    taken = set(columns)
    typed = [stream.type_column for stream in used if stream.type_column is not None]
    kind = columns[typed[0].lower()][0] if typed else _free(TYPE_COLUMN, taken)
    time = _time_name(used, columns, taken)
    time_type = _time_type(used)
    parts = tuple(_part(stream, columns, time, kind) for stream in used)
    number = _free(STREAM_NUMBER, taken)
    listed = dict(columns.values()) | {time: time_type, kind: STRING, number: INT}
    schema = Schema(tuple(listed.items()), tuple(column for stream in used for column in stream.schema.unusable))
    return Stream(
        " + ".join(stream.name for stream in used),
        schema,
        time,
        kind,
        schemas={wanted: _own(schema, parts, used, home) for wanted, home in homes.items()},
        types={wanted: home.name for wanted, home in homes.items() if home is not None},
        parts=parts,
        stream_number=number,
    )


def _time_name(used: Sequence[Given], columns: Mapping[str, tuple[str, Type]], taken: set[str]) -> str:
    """The name that all times have; else `ts`, unless one of the streams has something else under that name."""
    named = {stream.time.lower() for stream in used}
    shared = named.pop() if len(named) == 1 else DEFAULT_TIME
    if any(stream.time.lower() != shared for stream in used if stream.schema.find(shared) is not None):
        return _free(shared, taken)
    return columns[shared][0] if shared in columns else _free(shared, taken)


def _union(used: Sequence[Given], spans: Mapping[str, Span]) -> dict[str, tuple[str, Type]]:
    """By name in lower case: the first spelling, and a type that holds the values of all."""
    found: dict[str, tuple[str, Type]] = {}
    owner: dict[str, str] = {}
    for stream in used:
        for name, own in stream.schema.columns:
            spelling, before = found.get(name.lower(), (name, own))
            shared = common_type(before, own)
            if shared is None:
                raise SchemaError(
                    f"Column `{name}` is of type {before} in stream `{owner[name.lower()]}` and of type {own} in stream `{stream.name}`",
                    hint="Streams that are merged need one type for columns of one name: cast or rename one of them",
                    span=spans.get(stream.name),
                )
            found[name.lower()] = spelling, shared
            owner.setdefault(name.lower(), stream.name)
    return found


def common_type(a: Type, b: Type) -> Type | None:
    """Holds the values of both without loss of meaning; None if there is no such type."""
    if a == b or b.kind is Kind.NULL:
        return a
    if a.kind is Kind.NULL:
        return b
    if a.is_numeric and b.is_numeric:
        return number_type(a, b)
    unit = finer_unit(a, b)
    return replace(b, bits=64, signed=True, zone=b.zone and "UTC", unit=unit) if same_form(replace(a, unit=b.unit), b) else None


def _time_type(used: Sequence[Given]) -> Type:
    first = used[0]
    found = first.time_type
    for stream in used:
        shared = common_type(found, stream.time_type)
        if shared is None or shared.kind is not found.kind:
            raise SchemaError(
                f"Stream `{first.name}` has a time of type {found}, stream `{stream.name}` one of type {stream.time_type}",
                hint="Streams are merged by times that can be compared: all timestamps (with a zone, or without), or all integers",
            )
        found = shared
    return found


def _part(stream: Given, columns: Mapping[str, tuple[str, Type]], time: str, kind: str) -> Part:
    pairs = [(own, columns[own.lower()][0]) for own in stream.schema.names]
    if stream.type_column is None:
        pairs = [(own, merged) for own, merged in pairs if merged != kind]
    if (stream.time, time) not in pairs:
        pairs.append((stream.time, time))
    return Part(stream.name, tuple(pairs), stream.name if stream.type_column is None else None)


def _own(schema: Schema, parts: Iterable[Part], used: Sequence[Given], home: Given | None) -> Schema:
    """The attributes of the events of one type: those of its stream, or of all streams with a type column."""
    held = {
        merged
        for part, stream in zip(parts, used, strict=True)
        if (stream.name == home.name if home is not None else stream.type_column is not None)
        for own, merged in part.columns
        if own in stream.schema.names and merged.lower() == own.lower()
    }
    return Schema(tuple(column for column in schema.columns if column[0] in held))


def _free(name: str, taken: set[str]) -> str:
    """The name, or one much like it that no stream has."""
    while name.lower() in taken:
        name += "_"
    taken.add(name.lower())
    return name
