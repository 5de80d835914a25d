"""Which stream a query reads, which of its columns is the time, and which column, if any, tells the event type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ostinato.base.errors import SchemaError, UnknownNameError, UnsupportedError
from ostinato.expr.schema import Schema
from ostinato.expr.types import Kind, Type
from ostinato.lang.sase.syntax import Component


@dataclass(frozen=True)
class Stream:
    name: str
    schema: Schema
    time: str
    type_column: str | None

    @property
    def time_type(self) -> Type:
        return self.schema.type_of(self.time)


def choose_stream(components: tuple[Component, ...], schemas: Mapping[str, Schema], type_by: str | None, time: str) -> Stream:
    if not schemas:
        raise SchemaError("No stream was given", hint=f"Pass one, e.g. {components[0].event_type.lower()}=table")
    name = _by_type(components, schemas) if type_by is None else _only_one(schemas, type_by)
    schema = schemas[name]
    return Stream(name, schema, _time_column(name, schema, time), _type_column(name, schema, type_by))


def _only_one(schemas: Mapping[str, Schema], type_by: str) -> str:
    if len(schemas) > 1:
        raise UnsupportedError(
            f"type_by={type_by!r} needs one stream that carries all event types, but {len(schemas)} were given: {', '.join(schemas)}",
            hint="Unite the streams into one table with a type column",
        )
    return next(iter(schemas))


def _by_type(components: tuple[Component, ...], schemas: Mapping[str, Schema]) -> str:
    found = [(component, _named(component, schemas)) for component in components]
    first = found[0][1]
    for component, name in found:
        if name != first:
            raise UnsupportedError(
                f"The pattern reads two streams, `{first}` and `{name}`; a query reads one for now",
                hint="Unite the streams into one table with a column that names the event type, and pass type_by=<that column>",
                span=component.span,
            )
    return first


def _named(component: Component, schemas: Mapping[str, Schema]) -> str:
    wanted = component.event_type
    if wanted in schemas:
        return wanted
    folded = [name for name in schemas if name.lower() == wanted.lower()]
    if len(folded) == 1:
        return folded[0]
    if folded:
        raise UnknownNameError(f"`{wanted}` could be any of the streams {', '.join(folded)}", span=component.span)
    raise UnknownNameError(
        f"There is no stream for the event type `{wanted}`",
        detail=f"Streams: {', '.join(schemas)}",
        hint=f"Pass it as {wanted.lower()}=..., or, where one stream carries several event types, name the type column with type_by=...",
        span=component.span,
    )


def _time_column(name: str, schema: Schema, time: str) -> str:
    found = schema.find(time)
    if found is None:
        raise SchemaError(
            f"Stream `{name}` has no time column `{time}`",
            detail=f"Columns: {', '.join(schema.names)}",
            hint="Name the time column with time=...",
        )
    kind = schema.type_of(found).kind
    if kind not in (Kind.TIMESTAMP, Kind.INT):
        raise SchemaError(
            f"The time column `{found}` of stream `{name}` is of type {schema.type_of(found)}",
            hint="Time is a timestamp or an integer; cast the column first",
        )
    return found


def _type_column(name: str, schema: Schema, type_by: str | None) -> str | None:
    if type_by is None:
        return None
    found = schema.find(type_by)
    if found is None:
        raise SchemaError(
            f"Stream `{name}` has no column `{type_by}` (type_by)",
            detail=f"Columns: {', '.join(schema.names)}",
            hint="type_by names the column that holds the event type",
        )
    if schema.type_of(found).kind is not Kind.STRING:
        shown = schema.type_of(found)
        raise SchemaError(f"The type column `{found}` of stream `{name}` is of type {shown}", hint="type_by needs a string column")
    return found
