"""Rows of one of the streams that an input reads, in the columns of the input."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ostinato.base.errors import DataError, SchemaError, UnknownNameError
from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.program.input import Column, Source
from ostinato.runtime.rows.struct_fields import column_of


def in_form(table: pa.Table, source: Source, wanted: Sequence[Column]) -> pa.Table:
    """The rows with these columns; what the stream lacks is null."""
    own = own_columns(source, wanted)
    constants = dict(source.constants)
    columns = []
    for column in wanted:
        field = pa.field(column.name, to_arrow(column.type))
        if column.name in constants:
            columns.append(pa.repeat(pa.scalar(constants[column.name], field.type), table.num_rows))
        elif column.name in own:
            columns.append(_cast(_column(table, own[column.name], source), field, source))
        else:
            columns.append(pa.nulls(table.num_rows, field.type))
    return pa.table(columns, names=[column.name for column in wanted])


def own_columns(source: Source, wanted: Sequence[Column]) -> dict[str, Column]:
    """The stream's own columns, and fields of them, by the names of the input's columns that they become."""
    own_name = {merged: own for own, merged in source.columns}
    found = {}
    for column in wanted:
        if column.name in own_name:
            name = own_name[column.name]
            found[column.name] = Column(name, column.type, name.partition(".")[0] if "." in name else "")
        elif column.root in own_name:
            root = own_name[column.root]
            found[column.name] = Column(root + column.name[len(column.root) :], column.type, root)
    return found


def _column(table: pa.Table, column: Column, source: Source) -> pa.ChunkedArray:
    found = column_of(table, column)
    if found is None:
        hint = "Push them with the columns that the stream was declared with"
        raise SchemaError(f"The rows of stream `{source.stream}` have no column `{column.name}`", hint=hint)
    return found


def _cast(column: pa.ChunkedArray, field: pa.Field, source: Source) -> pa.ChunkedArray:
    if column.type == field.type:
        return column
    try:
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"Column `{field.name}` of stream `{source.stream}` does not fit the type {field.type} that the streams share",
            detail=str(error).splitlines()[0],
            hint="Cast the column before",
        ) from error


def which_stream(known: Sequence[str]) -> UnknownNameError:
    return UnknownNameError(f"The query reads the streams {', '.join(known)}", hint="Say of which the rows are: push(stream, rows)")


def unknown_stream(name: str, known: Sequence[str]) -> UnknownNameError:
    return UnknownNameError(f"The query reads no stream `{name}`", hint=f"It reads {', '.join(known)}")
