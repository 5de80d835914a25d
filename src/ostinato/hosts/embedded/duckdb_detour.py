"""Types that come back from DuckDB as others: they travel through it as plain numbers and dates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ostinato.base.errors import DataError
from ostinato.kernels.vectors.intervals import days_and_nanos
from ostinato.kernels.vectors.vector import from_arrow
from ostinato.program.input import Column
from ostinato.runtime.rows.struct_fields import type_of


def travelling(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """The same rows, in types that DuckDB gives back as it got them. Its interval counts months, a duration has none."""
    schema = pa.schema([field.with_type(_travelling_type(field.type)) for field in reader.schema])
    if schema.equals(reader.schema):
        return reader
    return pa.RecordBatchReader.from_batches(schema, (batch.cast(schema) for batch in reader))


def arrived(table: pa.Table, schema: pa.Schema, columns: Sequence[Column]) -> pa.Table:
    """The rows in the types with which their columns set out."""
    types = {column.name: type_of(schema, column) for column in columns}
    wanted = pa.schema([field.with_type(types[field.name]) for field in table.schema])
    return table if table.schema.equals(wanted) else table.cast(wanted)


def with_intervals(table: pa.Table) -> pa.Table:
    """Durations as DuckDB's intervals, whole days apart: it gives intervals back in nanoseconds, which hold 292 years."""
    return _replaced(table, pa.types.is_duration, _interval)


def with_durations(table: pa.Table) -> pa.Table:
    """DuckDB's intervals as durations again, where that is what they are: months have no fixed length."""
    return _replaced(table, pa.types.is_interval, _duration)


def _replaced(table: pa.Table, wanted: Callable[[pa.DataType], bool], change: Callable[[pa.ChunkedArray], pa.Array]) -> pa.Table:
    for number, field in enumerate(table.schema):
        if wanted(field.type):
            changed = change(table.column(number))
        elif pa.types.is_list(field.type) and wanted(field.type.value_type):
            changed = _with_items(table.column(number), change)
        else:
            continue
        table = table.set_column(number, field.with_type(changed.type), changed)
    return table


def _with_items(column: pa.ChunkedArray, change: Callable[[pa.ChunkedArray], pa.Array]) -> pa.Array:
    """Lists of changed items."""
    lengths = pc.fill_null(pc.list_value_length(column), 0)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths.to_numpy())]).astype(np.int32))
    items = change(pc.list_flatten(column))
    return pa.ListArray.from_arrays(offsets, items, mask=pa.array(pc.is_null(column).to_numpy()))


def _interval(column: pa.ChunkedArray) -> pa.Array:
    held = from_arrow(column)
    finer = held.data % held.type.ticks != 0
    if (finer if held.valid is None else finer & held.valid).any():
        hint = "In MEASURES, CAST(x AS INTERVAL) rounds down to microseconds, epoch_ns(x) counts nanoseconds"
        raise DataError("DuckDB, which runs the SQL around the clause, has no intervals in nanoseconds", hint=hint)
    return days_and_nanos(held.data, held.valid, held.type.ticks)


def _duration(column: pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    try:
        held = from_arrow(column)
    except DataError:
        return column
    return pa.array(held.data, mask=None if held.valid is None else ~held.valid).cast(pa.duration("us"))


def _travelling_type(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_duration(type_) or (pa.types.is_timestamp(type_) and type_.unit == "ns" and type_.tz is not None):
        return pa.int64()
    if pa.types.is_date64(type_):
        return pa.date32()
    if pa.types.is_dictionary(type_):
        return type_.value_type
    return type_
