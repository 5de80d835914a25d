"""Types that come back from DuckDB as others: they travel through it as plain numbers and dates."""

from __future__ import annotations

import pyarrow as pa


def travelling(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """The same rows, in types that DuckDB gives back as it got them. Its interval counts months, a duration has none."""
    schema = pa.schema([field.with_type(_travelling_type(field.type)) for field in reader.schema])
    if schema.equals(reader.schema):
        return reader
    return pa.RecordBatchReader.from_batches(schema, (batch.cast(schema) for batch in reader))


def arrived(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows in the types of `schema`, with which they set out."""
    wanted = pa.schema([schema.field(name) for name in table.column_names])
    return table if table.schema.equals(wanted) else table.cast(wanted)


def _travelling_type(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_duration(type_):
        return pa.int64()
    if pa.types.is_date64(type_):
        return pa.date32()
    if pa.types.is_dictionary(type_):
        return type_.value_type
    return type_
