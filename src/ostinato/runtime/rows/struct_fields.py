"""The columns that a program reads, out of rows as a stream has them: fields of structs become columns of their own."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ostinato.expr.types import NULL
from ostinato.program.input import Column


def column_of(rows: pa.Table | pa.RecordBatch, column: Column) -> pa.Array | pa.ChunkedArray | None:
    """The column of this name, be it the stream's own or a field that somebody took out before; else the field. None: there is none."""
    at = rows.schema.get_field_index(column.name)
    if at >= 0 or not column.root:
        return rows.column(at) if at >= 0 else None
    root = rows.schema.get_field_index(column.root)
    return None if root < 0 else _field(rows.column(root), column.name[len(column.root) + 1 :])


def named(rows: pa.Table | pa.RecordBatch, name: str) -> pa.Array | pa.ChunkedArray | None:
    """The same where only the name is known."""
    at = rows.schema.get_field_index(name)
    if at >= 0:
        return rows.column(at)
    roots = (name[:dot] for dot, letter in enumerate(name) if letter == ".")
    found = (column_of(rows, Column(name, NULL, root)) for root in roots)
    return next((array for array in found if array is not None), None)


def type_named(schema: pa.Schema, name: str) -> pa.DataType | None:
    found = named(schema.empty_table(), name)
    return None if found is None else found.type


def type_of(schema: pa.Schema, column: Column) -> pa.DataType | None:
    """The type that `column_of` finds."""
    found = column_of(schema.empty_table(), column)
    return None if found is None else found.type


def sources_of(columns: Sequence[Column]) -> list[str]:
    """The names of what has to be read of a stream."""
    return list(dict.fromkeys(column.root or column.name for column in columns))


def flattened(table: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """Exactly these columns, in this order; those that the table lacks are left out, for whoever reads it to say so."""
    if table.column_names == [column.name for column in columns]:
        return table
    found = {column.name: array for column in columns if (array := column_of(table, column)) is not None}
    return pa.table(found)


def _field(values: pa.Array | pa.ChunkedArray, path: str) -> pa.Array | pa.ChunkedArray | None:
    """Null where a struct on the way is. A field whose name is the whole path comes first."""
    if pa.types.is_null(values.type):
        return values
    if not pa.types.is_struct(values.type):
        return None
    at = values.type.get_field_index(path)
    if at >= 0:
        return pc.struct_field(values, [at])
    for dot, letter in enumerate(path):
        at = values.type.get_field_index(path[:dot]) if letter == "." else -1
        if at >= 0 and (found := _field(pc.struct_field(values, [at]), path[dot + 1 :])) is not None:
            return found
    return None
