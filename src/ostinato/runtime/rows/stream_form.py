"""One of several streams that a program reads as one: its rows in the columns of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from ostinato.base.errors import DataError, SchemaError, UnknownNameError
from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.program.input import Column
from ostinato.runtime.rows.struct_fields import column_of


@dataclass(frozen=True)
class StreamForm:
    """`columns` are pairs (its own column, the column of the program). `constants` are what all its rows have in further columns: the
    event type, unless the stream has a type column of its own, and which of the streams it is."""

    stream: str
    columns: tuple[tuple[str, str], ...]
    constants: tuple[tuple[str, str | int], ...] = ()

    def of(self, table: pa.Table, wanted: Sequence[Column]) -> pa.Table:
        """The rows with these columns; what the stream lacks is null."""
        own = self.own_columns(wanted)
        constants = dict(self.constants)
        columns = []
        for column in wanted:
            field = pa.field(column.name, to_arrow(column.type))
            if column.name in constants:
                columns.append(pa.repeat(pa.scalar(constants[column.name], field.type), table.num_rows))
            elif column.name in own:
                columns.append(self._cast(self._column(table, own[column.name]), field))
            else:
                columns.append(pa.nulls(table.num_rows, field.type))
        return pa.table(columns, names=[column.name for column in wanted])

    def own_columns(self, wanted: Sequence[Column]) -> dict[str, Column]:
        """The stream's own columns, and fields of them, by the names of the program's columns that they become."""
        own_name = {merged: own for own, merged in self.columns}
        found = {}
        for column in wanted:
            if column.name in own_name:
                name = own_name[column.name]
                found[column.name] = Column(name, column.type, name.partition(".")[0] if "." in name else "")
            elif column.root in own_name:
                root = own_name[column.root]
                found[column.name] = Column(root + column.name[len(column.root) :], column.type, root)
        return found

    def _column(self, table: pa.Table, column: Column) -> pa.ChunkedArray:
        found = column_of(table, column)
        if found is None:
            hint = "Push them with the columns that the stream was declared with"
            raise SchemaError(f"The rows of stream `{self.stream}` have no column `{column.name}`", hint=hint)
        return found

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
