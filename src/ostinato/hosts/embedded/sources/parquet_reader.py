"""Reads Parquet files one after the other, a stretch of rows at a time: what is in memory is a batch, whatever the size of the files and of
their row groups. Arrow's own scanner decodes whole row groups and queues up to a gigabyte of them for a reader that does more than read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

BATCH_ROWS = 1 << 17
PAGES = 1 << 20  # bytes of a column that are read at once, before they are decoded


def parquet_reader(dataset: ds.FileSystemDataset, columns: Sequence[str]) -> pa.RecordBatchReader:
    """These columns of all files, in the types of the dataset."""
    schema = pa.schema([dataset.schema.field(name) for name in columns])
    return pa.RecordBatchReader.from_batches(schema, _batches(dataset, schema))


def _batches(dataset: ds.FileSystemDataset, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for fragment in dataset.get_fragments():
        given = ds.get_partition_keys(fragment.partition_expression)  # columns that are directories
        held = [name for name in schema.names if name not in given and name in fragment.physical_schema.names]
        source = fragment.filesystem.open_input_file(fragment.path)
        with pq.ParquetFile(source, metadata=fragment.metadata, buffer_size=PAGES, pre_buffer=False) as file:
            for batch in file.iter_batches(BATCH_ROWS, columns=held):
                yield _conformed(batch, schema, given)


def _conformed(batch: pa.RecordBatch, schema: pa.Schema, given: dict[str, object]) -> pa.RecordBatch:
    """With all columns and in their types: a file may lack some, and have others narrower."""
    if batch.schema.equals(schema) and len(schema):
        return batch
    arrays = [_column(batch, field, given) for field in schema]
    if not arrays:
        return pa.RecordBatch.from_struct_array(pa.array([{}] * batch.num_rows, pa.struct([])))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _column(batch: pa.RecordBatch, field: pa.Field, given: dict[str, object]) -> pa.Array:
    if field.name in given:
        return pa.repeat(pa.scalar(given[field.name], field.type), batch.num_rows)
    if field.name not in batch.schema.names:
        return pa.nulls(batch.num_rows, field.type)
    column = batch.column(field.name)
    return column if column.type == field.type else column.cast(field.type)
