"""Tables in exactly the declared Arrow schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from ostinato.base.errors import DataError
from ostinato.program.pattern import Pattern
from ostinato.tasks.host_ids import identified


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of `schema`, in its order and types. What does not fit (a value out of range) is an error, never a wrong value."""
    columns = []
    for field in schema:
        column = table.column(field.name)
        if column.type != field.type:
            column = _cast(column, field)
        columns.append(column)
    return pa.table(columns, schema=schema)


def _cast(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    try:
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"column {field.name!r} does not fit its declared type {field.type}", detail=str(error)) from error


def reported(tables: Iterable[pa.Table], pattern: Pattern, schema: pa.Schema, place: int) -> Iterator[pa.RecordBatch]:
    """The matches of the task `place` as Spark gets them."""
    counted = 0
    for table in tables:
        yield from batches_of(identified(table, pattern, place, counted + 1), schema)
        counted += table.num_rows


def batches_of(table: pa.Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The table's rows as record batches of the declared schema; none for an empty table."""
    if table.num_rows:
        yield from conform(table, schema).to_batches(max_chunksize=1 << 16)
