"""From an Arrow batch to the columns that a program reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.base.errors import DataError, SchemaError
from ostinato.expr.types import Kind, Type
from ostinato.expr.typing.arrow_types import from_arrow as type_from_arrow
from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.expr.values.casts import limit
from ostinato.kernels.rows.text_codes import text_codes
from ostinato.kernels.vectors.casts import cast
from ostinato.kernels.vectors.vector import Vector, from_arrow, from_plain_words, one_text, plain_words
from ostinato.program.input import Column, Input
from ostinato.runtime.rows.struct_fields import column_of

MANY = 1 << 12  # strings; fewer are sooner coded by Arrow
TextCodes = tuple[np.ndarray, np.ndarray | None, pa.Array]  # codes, which are valid, and the texts


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a column of the program lies in batches of one schema."""

    name: str
    column: Column
    at: int  # -1: it is a field of a struct
    type: Type
    differs: bool  # in form or unit, so that values are brought to those of the program
    words: np.dtype | None  # of values that are read as they lie
    text: bool  # plain strings, which are coded here where they are many
    held: range | None  # what the program's type holds, where that of the batch holds more


class CodedTexts:
    """Columns of a batch that several inputs read: their texts are coded once. What it knows it holds, so that no other column can lie
    where one of these does."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], tuple[pa.Array, TextCodes]] = {}

    def codes(self, array: pa.Array | pa.ChunkedArray) -> TextCodes:
        if not isinstance(array, pa.Array) or array.null_count:
            return text_codes(array)
        place = (*(0 if buffer is None else buffer.address for buffer in array.buffers()[1:]), array.offset, len(array))
        if place not in self._known:
            self._known[place] = array, text_codes(array)
        return self._known[place][1]

    def clear(self) -> None:
        self._known.clear()


class ColumnReader:
    """A stream's batches have one schema after another the same: it is compared with the program when it changes."""

    def __init__(self, reads: Input) -> None:
        self.texts: CodedTexts | None = None
        self._reads = reads
        self._schema: pa.Schema | None = None
        self._sources: list[_Source] = []

    def read(self, batch: pa.RecordBatch | pa.Table) -> dict[str, Vector]:
        """The program's columns by name; a column that is missing or of another type is refused."""
        schema = batch.schema
        if self._schema is None or not schema.equals(self._schema):
            self._sources = [_source(batch, column, self._reads) for column in self._reads.columns]
            self._schema = schema
        found = {}
        for source in self._sources:
            array: Any = batch.column(source.at) if source.at >= 0 else column_of(batch, source.column)
            is_plain = (source.words is not None or source.text) and not array.null_count and not isinstance(array, pa.ChunkedArray)
            if is_plain and source.words is not None and len(array):
                found[source.name] = from_plain_words(array, source.type, source.words)
                if source.held is not None:
                    _check_held(found[source.name], source.column, source.held)
            elif is_plain and source.text and len(array) == 1:
                found[source.name] = one_text(array, source.type)
            else:
                found[source.name] = self._vector(array, source)
        return found

    def _vector(self, array: pa.Array | pa.ChunkedArray, source: _Source) -> Vector:
        if source.text and array is not None and len(array) >= MANY:
            return Vector(source.type, *(text_codes(array) if self.texts is None else self.texts.codes(array)))
        vector = from_arrow(array, source.type)
        if source.held is not None and vector.type.kind is source.type.kind:
            _check_held(vector, source.column, source.held)
        if not source.differs:
            return vector
        if vector.type.opaque != source.column.type.opaque:
            return _in_form(vector, source.column, self._reads)
        return _in_unit(vector, source.column, self._reads)


def read_columns(batch: pa.RecordBatch | pa.Table, reads: Input) -> dict[str, Vector]:
    """The columns of a single batch."""
    return ColumnReader(reads).read(batch)


def _source(batch: pa.RecordBatch | pa.Table, column: Column, reads: Input) -> _Source:
    array = column_of(batch, column)
    if array is None:
        raise SchemaError(
            f'stream "{reads.stream}" has no column "{column.name}" in this batch',
            detail=f"its columns are {', '.join(batch.schema.names)}",
        )
    type_ = type_from_arrow(array.type)
    if type_.kind is not column.type.kind and type_.kind is not Kind.NULL:
        raise SchemaError(
            f'column "{column.name}" of stream "{reads.stream}" is {type_} in this batch',
            detail=f"the query was compiled for {column.type}",
            hint="cast the column, or compile the query for this schema",
        )
    own = column.type
    differs = type_.kind is not Kind.NULL and (type_.opaque != own.opaque or type_.unit != own.unit or type_.scale != own.scale)
    words = None if differs else plain_words(array.type)
    text = not differs and array.type in (pa.string(), pa.large_string())
    return _Source(column.name, column, batch.schema.get_field_index(column.name), type_, differs, words, text, _held(type_, own))


def _held(given: Type, own: Type) -> range | None:
    """What a type holds of whole numbers, in the form in which they are given; None: nothing is given that it does not hold."""
    if given.kind not in (Kind.INT, Kind.DECIMAL):
        return None
    held, given_held = limit(own), limit(given)
    if given.scale > own.scale:
        held = range(held.start * 10 ** (given.scale - own.scale), held.stop * 10 ** (given.scale - own.scale))
    return None if held.start <= given_held.start and given_held.stop <= held.stop else held


def _check_held(vector: Vector, column: Column, held: range) -> None:
    """Programs go by the types that columns were declared with: what cannot leave these is not looked after."""
    beyond = (vector.data < held.start) | (vector.data >= held.stop)
    if (beyond if vector.valid is None else beyond & vector.valid).any():
        hint = "compile the query for the schema of this batch"
        raise DataError(f"A value does not fit {to_arrow(column.type)}", detail=f"Column `{column.name}`", hint=hint)


def _in_form(vector: Vector, column: Column, reads: Input) -> Vector:
    """Nested values of a form that holds the same (large lists, say), or an error."""
    try:
        return from_arrow(vector.dictionary.cast(to_arrow(column.type)))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise SchemaError(
            f'column "{column.name}" of stream "{reads.stream}" is {vector.type} in this batch',
            detail=f"the query was compiled for {column.type}: {str(error).splitlines()[0]}",
            hint="cast the column, or compile the query for this schema",
        ) from error


def _in_unit(vector: Vector, column: Column, reads: Input) -> Vector:
    """Times in the unit, and decimals with the digits, that the query was compiled for: the same values, or an error."""
    moved = cast(vector, column.type)
    finer = vector.data % max(vector.type.ticks // column.type.ticks, 10 ** max(vector.type.scale - column.type.scale, 0)) != 0
    if (finer if vector.valid is None else finer & vector.valid).any():
        more = "nanoseconds" if vector.type.is_temporal else "more digits"
        raise SchemaError(
            f'column "{column.name}" of stream "{reads.stream}" has {more} in this batch',
            detail=f"the query was compiled for {column.type}, which would lose them",
            hint="compile the query for the schema of this batch, or cast the column",
        )
    if moved.failure is not None and moved.failure.rows.any():
        raise DataError(moved.failure.message, detail=f"Column `{column.name}`", hint=moved.failure.hint)
    return Vector(column.type, moved.data, moved.valid)
