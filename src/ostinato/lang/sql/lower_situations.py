"""The clause SITUATIONS OF and the columns of its input, to a query of the algebra."""

from __future__ import annotations

from collections.abc import Collection

from ostinato.algebra.query import OrderKey
from ostinato.algebra.situations import Situations, SituationStream
from ostinato.base.errors import SchemaError, UnsupportedError
from ostinato.expr.types import Kind
from ostinato.expr.typing.schema import Schema
from ostinato.lang.situations.definitions import check_names, lower_definition, lower_partition
from ostinato.lang.situations.situation_stream import situation_stream
from ostinato.lang.situations.sources import Sources
from ostinato.lang.situations.syntax import Name
from ostinato.lang.sql.situations_syntax import SituationsOf
from ostinato.lang.streams.stream import Stream


def lower_situations(tree: SituationsOf, schema: Schema, stream: str, qualifiers: Collection[str]) -> SituationStream:
    """`stream` is the name of the input, `qualifiers` are the names under which the clause may speak of it."""
    read = Sources(Stream(stream, schema, "", None), {}, (stream,), {stream: schema}, {})
    order = tuple(dict.fromkeys(read.column(_plain(name, schema, qualifiers), (stream,)) for name in tree.order))
    time = schema.type_of(order[0])
    if time.kind not in (Kind.TIMESTAMP, Kind.INT):
        hint = "Cast it to a timestamp in a subquery: situations last for a time"
        raise SchemaError(f"ORDER BY begins with `{order[0]}`, which is of type {time}", hint=hint, span=tree.order[0].span)
    sources = Sources(Stream(stream, schema, order[0], None), {}, (stream,), {stream: schema}, {})
    check_names(tree.definitions)
    for definition in tree.definitions:
        if definition.condition is None:
            hint = f"DEFINE {definition.name} AS condition"
            raise UnsupportedError(f"`{definition.name}` has no condition", hint=hint, span=definition.span)
    partition = [_plain(name, schema, qualifiers) for name in tree.partition]
    situations = Situations(
        stream=stream,
        schema=schema,
        time=order[0],
        definitions=tuple(lower_definition(definition, sources) for definition in tree.definitions),
        partition=lower_partition(partition, sources),
        order=tuple(OrderKey(column) for column in order),
    )
    return situation_stream(situations, tree.measures, tree.definitions, sources)


def _plain(name: Name, schema: Schema, qualifiers: Collection[str]) -> Name:
    """Without the name of the table; a path that leads to a field of a struct stays what it is."""
    if schema.find(name.name) is not None:
        return name
    for qualifier in qualifiers:
        if name.name.lower().startswith(f"{qualifier.lower()}."):
            return Name(name.name[len(qualifier) + 1 :], name.span)
    return name
