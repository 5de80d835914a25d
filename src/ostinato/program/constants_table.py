"""The queries of a shape as bytes: an Arrow table, a row per combination of constants, with the names of the queries that have it."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ostinato.base.errors import StateError
from ostinato.expr.types import Kind
from ostinato.program.input import Column

IDS = "ids"
_HELD = {Kind.FLOAT: pa.float64(), Kind.STRING: pa.large_string()}


def constants_schema(parameters: Sequence[Column]) -> pa.Schema:
    """Constants are held as the engine holds values: numbers and times as 64 bits."""
    fields = [pa.field(column.name, _HELD.get(column.type.kind, pa.int64()), nullable=False) for column in parameters]
    return pa.schema([pa.field(IDS, pa.list_(pa.field("item", pa.string(), nullable=False)), nullable=False), *fields])


def packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def unpacked(data: bytes, parameters: Sequence[Column]) -> pa.Table:
    """Verified: they may come from anywhere."""
    if not data:
        return constants_schema(parameters).empty_table()
    try:
        table = pa.ipc.open_stream(data).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise StateError("the constants of a shape are damaged", detail=str(error).splitlines()[0]) from error
    if table.schema != constants_schema(parameters):
        raise StateError("the constants of a shape are not those that it has", detail=f"columns {', '.join(table.schema.names)}")
    if any(column.null_count for column in table.columns):
        raise StateError("the constants of a shape are damaged", detail="a value is missing")
    names = table.column(IDS).combine_chunks().flatten()
    if names.null_count or len(names.unique()) != len(names):
        raise StateError("the constants of a shape are damaged", detail="queries with names of their own expected")
    return table
