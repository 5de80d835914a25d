"""From an Arrow batch to the columns that a program reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.base.errors import DataError, SchemaError
from ostinato.expr.arrow_types import to_arrow
from ostinato.expr.types import Kind
from ostinato.kernels.vectors.casts import cast
from ostinato.kernels.vectors.vector import Vector, from_arrow
from ostinato.program.program import Column, Program
from ostinato.runtime.string_pool import ranks_of
from ostinato.runtime.struct_fields import column_of

FAREST = 2**62  # of a time from 0; with windows of at most as much, no sum and no difference leaves 64 bits


def arrow_rows(batch: Any) -> pa.RecordBatch | pa.Table:
    if isinstance(batch, pa.Table | pa.RecordBatch):
        return without_views(batch)
    if hasattr(batch, "__arrow_c_stream__"):  # frames of pandas and Polars, relations of DuckDB, readers
        try:
            return without_views(pa.table(batch))
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


def read_columns(batch: pa.RecordBatch | pa.Table, program: Program) -> dict[str, Vector]:
    """The program's columns by name; a column that is missing or of another type is refused."""
    found = {}
    for column in program.columns:
        array = column_of(batch, column)
        if array is None:
            raise SchemaError(
                f'stream "{program.stream}" has no column "{column.name}" in this batch',
                detail=f"its columns are {', '.join(batch.schema.names)}",
            )
        vector = from_arrow(array)
        if vector.type.kind is not column.type.kind and vector.type.kind is not Kind.NULL:
            raise SchemaError(
                f'column "{column.name}" of stream "{program.stream}" is {vector.type} in this batch',
                detail=f"the query was compiled for {column.type}",
                hint="cast the column, or compile the query for this schema",
            )
        if vector.type.opaque != column.type.opaque and vector.type.kind is not Kind.NULL:
            vector = _in_form(vector, column, program)
        found[column.name] = vector if vector.type.unit == column.type.unit else _in_unit(vector, column, program)
    return found


def _in_form(vector: Vector, column: Column, program: Program) -> Vector:
    """Nested values of a form that holds the same (large lists, say), or an error."""
    try:
        return from_arrow(vector.dictionary.cast(to_arrow(column.type)))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise SchemaError(
            f'column "{column.name}" of stream "{program.stream}" is {vector.type} in this batch',
            detail=f"the query was compiled for {column.type}: {str(error).splitlines()[0]}",
            hint="cast the column, or compile the query for this schema",
        ) from error


def _in_unit(vector: Vector, column: Column, program: Program) -> Vector:
    """Times in the unit that the query was compiled for: the same moments, or an error."""
    if vector.type.kind is Kind.NULL:
        return vector
    moved = cast(vector, column.type)
    finer = vector.data % max(vector.type.ticks // column.type.ticks, 1) != 0
    if (finer if vector.valid is None else finer & vector.valid).any():
        raise SchemaError(
            f'column "{column.name}" of stream "{program.stream}" has nanoseconds in this batch',
            detail=f"the query was compiled for {column.type}, which would lose them",
            hint="compile the query for the schema of this batch, or cast the column",
        )
    if moved.failure is not None and moved.failure.rows.any():
        raise DataError(moved.failure.message, detail=f"Column `{column.name}`", hint=moved.failure.hint)
    return Vector(column.type, moved.data, moved.valid)


class MissingTimeError(DataError):
    """A row without a time where time counts. Whoever put the rows in order knows where it stood before."""


def missing_time(column: str, stream: str, place: str = "") -> MissingTimeError:
    return MissingTimeError(
        f'the time column "{column}" of stream "{stream}" is null{place}',
        hint="rows without a time have no place in the order: filter them out, or give them a time",
    )


def times_of(columns: dict[str, Vector], program: Program, *, nulls_allowed: bool, presorted: bool = False) -> np.ndarray | None:
    """Event time as int64 (anything where it is null), or None if the program has no time column. `presorted` rows do not stand where
    the user has put them."""
    if program.time < 0:
        return None
    name = program.columns[program.time].name
    vector = columns[name]
    if not nulls_allowed and vector.valid is not None and not vector.valid.all():
        row = int(np.flatnonzero(~vector.valid)[0])
        raise missing_time(name, program.stream, "" if presorted else f" (row {row} of the batch, counted from 0)")
    times = np.ascontiguousarray(vector.data, np.int64)
    known = times if vector.valid is None else times[vector.valid]
    if len(known) and not (known.min() >= -FAREST and known.max() <= FAREST):
        raise DataError(
            f'a time in the column "{name}" of stream "{program.stream}" is beyond what can be calculated with',
            hint="times in nanoseconds reach from 1823 to 2116: cast the column to microseconds where it has later ones; filter out marks",
        )
    return times


def sort_order(columns: dict[str, Vector], program: Program) -> np.ndarray | None:
    """The stable order of the rows by the program's order columns; None if they are in order already."""
    keys = []
    for number, descending, nulls_first in program.order:
        keys += _sort_keys(columns[program.columns[number].name], descending, nulls_first)
    if not keys or _in_order(keys):
        return None
    return np.lexsort(keys[::-1]) if len(keys) > 1 else np.argsort(keys[0], kind="stable")


def _sort_keys(vector: Vector, descending: bool, nulls_first: bool) -> list[np.ndarray]:
    values = vector.data
    if vector.type.kind is Kind.STRING:
        values = ranks_of(vector.dictionary)[vector.data] if len(vector.dictionary) else np.zeros(len(vector.data), np.int64)
    elif values.dtype == np.bool_:
        values = values.astype(np.int64)
    if descending:
        values = ~values if values.dtype.kind == "i" else -values
    keys = _nan_apart(values, descending) if values.dtype.kind == "f" else [values]
    if vector.valid is None or vector.valid.all():
        return keys
    null_last = vector.valid if nulls_first else ~vector.valid
    return [null_last, *(np.where(vector.valid, key, 0) for key in keys)]


def _nan_apart(values: np.ndarray, descending: bool) -> list[np.ndarray]:
    """NaN is greater than every number, as in DuckDB and Spark, but does not compare like that."""
    nan = np.isnan(values)
    return [~nan if descending else nan, np.where(nan, 0.0, values)] if nan.any() else [values]


def _in_order(keys: list[np.ndarray]) -> bool:
    """Whether the rows are in lexicographic order of the keys."""
    if len(keys) == 1:
        return bool((keys[0][1:] >= keys[0][:-1]).all())
    equal = np.ones(max(len(keys[0]) - 1, 0), np.bool_)
    for key in keys:
        if (equal & (key[1:] < key[:-1])).any():
            return False
        equal &= key[1:] == key[:-1]
    return True


def take(vector: Vector, rows: np.ndarray | slice) -> Vector:
    return Vector(vector.type, vector.data[rows], None if vector.valid is None else vector.valid[rows], vector.dictionary)
