"""One of several streams that a program reads as one: its rows in the columns of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from ostinato.base.errors import DataError, SchemaError, UnknownNameError


@dataclass(frozen=True)
class StreamForm:
    """`columns` are pairs (its own column, the column of the program). `constants` are what all its rows have in further columns: the
    event type, unless the stream has a type column of its own, and which of the streams it is."""

    stream: str
    columns: tuple[tuple[str, str], ...]
    constants: tuple[tuple[str, str | int], ...] = ()

    def of(self, table: pa.Table, schema: pa.Schema) -> pa.Table:
        """The rows with the columns of `schema`; what the stream lacks is null."""
        own_name = {merged: own for own, merged in self.columns}
        constants = dict(self.constants)
        columns = []
        for field in schema:
            if field.name in constants:
                columns.append(pa.repeat(pa.scalar(constants[field.name], field.type), table.num_rows))
            elif field.name in own_name:
                columns.append(self._cast(self._column(table, own_name[field.name]), field))
            else:
                columns.append(pa.nulls(table.num_rows, field.type))
        return pa.table(columns, schema=schema)

    def _column(self, table: pa.Table, name: str) -> pa.ChunkedArray:
        if name not in table.column_names:
            hint = "Push them with the columns that the stream was declared with"
            raise SchemaError(f"The rows of stream `{self.stream}` have no column `{name}`", hint=hint)
        return table.column(name)

    def _cast(self, column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
        if column.type == field.type:
            return column
        try:
            return column.cast(field.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise DataError(
                f"Column `{field.name}` of stream `{self.stream}` does not fit the type {field.type} that the streams share",
                detail=str(error).splitlines()[0],
                hint="Cast the column before",
            ) from error


def form_named(name: str, forms: Sequence[StreamForm]) -> StreamForm:
    for form in forms:
        if form.stream.lower() == name.lower():
            return form
    raise UnknownNameError(f"The query reads no stream `{name}`", hint=f"It reads {', '.join(form.stream for form in forms)}")
