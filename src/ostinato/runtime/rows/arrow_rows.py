"""Rows as Arrow, out of what people push."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ostinato.base.errors import DataError

ARROW = (pa.Table, pa.RecordBatch)


def arrow_rows(batch: Any) -> pa.RecordBatch | pa.Table:
    """A batch, in whatever form it is handed over."""
    if isinstance(batch, ARROW):
        return batch
    if hasattr(batch, "__arrow_c_stream__"):  # frames of pandas and Polars, relations of DuckDB, readers
        try:
            return pa.table(batch)
        except UnicodeEncodeError as error:
            raise not_unicode() from error
    raise DataError(f"A batch of rows cannot be read from a {type(batch).__name__}", hint="Push an Arrow table or record batch, or a frame")


def not_unicode(stream: str | None = None) -> DataError:
    return DataError(
        f"{'The batch' if stream is None else f'Stream `{stream}`'} has a text with half a surrogate pair in it, which is no character",
        hint="The text was decoded wrongly: read it as UTF-8, or replace what cannot be read",
    )


def without_views(rows: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
    """The same rows, with strings that Arrow can select from: Polars gives views, for which Arrow has no `take`."""
    plain = pa.schema([field.with_type(_without_views(field.type)) for field in rows.schema])
    return rows if plain.equals(rows.schema) else rows.cast(plain)


def _without_views(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_string_view(type_):
        return pa.large_string()
    if pa.types.is_binary_view(type_):
        return pa.large_binary()
    if pa.types.is_struct(type_):
        return pa.struct([field.with_type(_without_views(field.type)) for field in type_])
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        item = type_.value_field.with_type(_without_views(type_.value_type))
        return pa.large_list(item) if pa.types.is_large_list(type_) else pa.list_(item)
    return type_


class PlainRows:
    """Batch after batch has the same schema: types are looked at when it changes."""

    def __init__(self) -> None:
        self._plain: pa.Schema | None = None  # without views

    def of(self, batch: Any) -> pa.RecordBatch | pa.Table:
        rows = arrow_rows(batch)
        if self._plain is not None and rows.schema.equals(self._plain):
            return rows
        plain = without_views(rows)
        self._plain = plain.schema
        return plain
