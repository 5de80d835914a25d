"""A column of values in physical form (see `expr.types`), and the way from and to Arrow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.base.errors import DataError
from ostinato.expr.types import Kind, Type
from ostinato.expr.typing.arrow_types import from_arrow as type_from_arrow
from ostinato.expr.typing.arrow_types import to_arrow as type_to_arrow
from ostinato.kernels.vectors.decimals import decimals_from_arrow, decimals_to_arrow
from ostinato.kernels.vectors.intervals import micros_of_intervals

TEXT = pa.large_string()
SHORT = 256  # bytes of a text that is remembered
MICROS = {"s": 1_000_000, "ms": 1_000}
_INT64, _FLOAT64 = pa.int64(), pa.float64()
_INT_WORDS, _FLOAT_WORDS = np.dtype(np.int64), np.dtype(np.float64)


@dataclass(frozen=True)
class Failure:
    """Rows whose value could not be computed. It matters only if somebody needs the value."""

    rows: np.ndarray
    message: str
    hint: str | None = None
    cause: BaseException | None = None

    def at(self, rows: np.ndarray) -> Failure:
        """The same in other rows."""
        return replace(self, rows=rows)


@dataclass(slots=True)
class Vector:
    """`valid` None: no nulls. What stands in `data` at a null is arbitrary. Strings are codes into `dictionary`, whose entries are
    distinct and not null; so are lists and opaque values, whose entries may repeat. Inside of an evaluation a column of one row stands
    for any number of equal ones."""

    type: Type
    data: np.ndarray
    valid: np.ndarray | None = None
    dictionary: Any = None  # pa.Array for strings and lists; for opaque values whatever has a `take`; else None
    failure: Failure | None = None

    def __len__(self) -> int:
        return len(self.data)


def from_arrow(array: pa.Array | pa.ChunkedArray, type_: Type | None = None) -> Vector:
    """Times are in the unit of their type, zones UTC; values beyond 64 bits are a DataError. `type_` is ours, where somebody knows it."""
    type_ = type_ or type_from_arrow(array.type)
    if type_.kind is Kind.OPAQUE:
        return _opaque(array, type_)
    array = _one_piece(array)
    if type_.kind is Kind.STRING:
        return _strings(array, type_)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    valid = None if array.null_count == 0 else np.asarray(array.is_valid())
    return Vector(type_, _data(array, type_, valid), valid)


def plain_words(type_: pa.DataType) -> np.dtype | None:
    """Of Arrow values that are physical values as they lie; None of others."""
    if type_ == _INT64 or (pa.types.is_timestamp(type_) and type_.unit in ("us", "ns")):
        return _INT_WORDS
    return _FLOAT_WORDS if type_ == _FLOAT64 else None


def from_plain_words(array: pa.Array, type_: Type, words: np.dtype) -> Vector:
    """As `from_arrow`, of values without nulls that `plain_words` tells."""
    if type_.kind is Kind.INT or type_.kind is Kind.FLOAT:
        return Vector(type_, np.from_dlpack(array))  # in half of the time
    return Vector(type_, np.frombuffer(array.buffers()[1], words, len(array), array.offset * words.itemsize))


def _opaque(array: pa.Array | pa.ChunkedArray, type_: Type) -> Vector:
    """The values stay where they lie, in as many pieces."""
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    valid = None if array.null_count == 0 else array.is_valid().to_numpy(zero_copy_only=False)
    return Vector(type_, np.arange(len(array)), valid, array)


def _one_piece(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    if not isinstance(array, pa.ChunkedArray):
        return array
    if array.num_chunks == 1:
        return array.chunk(0)
    if pa.types.is_dictionary(array.type):
        array = array.unify_dictionaries()
    elif array.num_chunks and type_from_arrow(array.type).kind is Kind.STRING:
        array = _encoded(array)  # codes are put together, not characters
    return pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)


def _encoded(array: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Plain strings as dictionary codes; the pieces of a chunked array share one dictionary."""
    return (array.cast(TEXT) if pa.types.is_string_view(array.type) else array).dictionary_encode()


def _data(array: pa.Array, type_: Type, valid: np.ndarray | None) -> np.ndarray:
    if type_.kind is Kind.NULL:
        return np.zeros(len(array), np.int64)
    if type_.kind is Kind.BOOL:
        return np.asarray(array.fill_null(False) if array.null_count else array)
    if type_.kind is Kind.DECIMAL:
        return decimals_from_arrow(array, valid)
    if pa.types.is_interval(array.type):
        return micros_of_intervals(array, valid)
    words = _words(array)
    if type_.kind is Kind.FLOAT:
        return words.astype(np.float64, copy=False)
    if words.dtype == np.uint64 and len(words) and (words > np.iinfo(np.int64).max).any():
        _refuse_unsigned(words, valid)
    data = words.astype(np.int64, copy=False)
    if pa.types.is_date64(array.type):
        return data // 86_400_000
    if type_.kind in (Kind.TIMESTAMP, Kind.INTERVAL):
        return _micros(data, array.type.unit, valid) if type_.unit == "us" else data
    return data


def _words(array: pa.Array) -> np.ndarray:
    """The fixed-width values where they lie, without a copy."""
    if pa.types.is_primitive(array.type) and not pa.types.is_floating(array.type) and not pa.types.is_integer(array.type):
        width = "int32" if array.type.bit_width == 32 else "int64"
    else:
        width = array.type.to_pandas_dtype()
    buffer = array.buffers()[1]
    if buffer is None:
        return np.zeros(len(array), width)
    dtype = np.dtype(width)
    return np.frombuffer(buffer, dtype, count=len(array), offset=array.offset * dtype.itemsize)


def _refuse_unsigned(words: np.ndarray, valid: np.ndarray | None) -> None:
    beyond = words > np.iinfo(np.int64).max
    if (beyond if valid is None else beyond & valid).any():
        raise DataError("An unsigned integer does not fit 64 bits with a sign", hint="Cast the column to DECIMAL, DOUBLE or string before")


def _micros(data: np.ndarray, unit: str, valid: np.ndarray | None) -> np.ndarray:
    if unit == "us":
        return data
    factor = MICROS[unit]
    beyond = np.abs(data) > np.iinfo(np.int64).max // factor
    if (beyond if valid is None else beyond & valid).any():
        raise DataError("A time does not fit 64 bits of microseconds")
    return data * factor


def _strings(array: pa.Array, type_: Type) -> Vector:
    if len(array) == 1 and array.null_count == 0 and pa.types.is_string(array.type):
        return one_text(array, type_)
    given = pa.types.is_dictionary(array.type)
    if not given:
        array = _encoded(array)
    indices, dictionary = array.indices, array.dictionary
    if dictionary.type != TEXT:
        dictionary = dictionary.cast(TEXT)
    valid = None if indices.null_count == 0 else np.asarray(indices.is_valid())
    codes = _words(indices).astype(np.int64)
    if valid is not None:
        codes[~valid] = 0
    vector = Vector(type_, codes, valid, dictionary)
    return with_distinct_entries(vector) if given else vector


def one_text(array: pa.Array, type_: Type) -> Vector:
    """A column of one string. Its dictionary is mostly the same one for the same string, where rows come one by one."""
    text = array[0].as_buffer().to_pybytes()
    return Vector(type_, np.zeros(1, np.int64), None, _known_text(text) if len(text) <= SHORT else _text(text))


def _text(text: bytes) -> pa.Array:
    return pa.LargeStringArray.from_buffers(1, pa.py_buffer(np.array([0, len(text)])), pa.py_buffer(text))


_known_text = lru_cache(1 << 10)(_text)


def with_distinct_entries(vector: Vector) -> Vector:
    """The same strings over a dictionary without repetitions and nulls."""
    dictionary = vector.dictionary
    encoded = dictionary.dictionary_encode()
    if dictionary.null_count == 0 and len(encoded.dictionary) == len(dictionary):
        return vector
    valid = vector.valid
    if dictionary.null_count and len(vector):
        known = np.asarray(dictionary.is_valid())[vector.data]
        valid = known if valid is None else valid & known
    table = np.asarray(encoded.indices.fill_null(0)).astype(np.int64)
    codes = table[vector.data] if len(table) else vector.data
    return Vector(vector.type, codes, valid, encoded.dictionary, vector.failure)


def to_arrow(vector: Vector) -> pa.Array:
    """As `expr.typing.arrow_types.to_arrow` of its type; a value that this cannot hold is a DataError."""
    kind = vector.type.kind
    mask = None if vector.valid is None else ~vector.valid
    if kind is Kind.NULL:
        return pa.nulls(len(vector))
    if kind is Kind.STRING:
        if not len(vector.dictionary):
            return pa.nulls(len(vector), pa.string())
        return vector.dictionary.take(pa.array(vector.data, mask=mask)).cast(pa.string())
    if kind in (Kind.LIST, Kind.OPAQUE):
        return vector.dictionary.take(pa.array(vector.data, pa.int64(), mask=mask))
    if kind is Kind.DECIMAL:
        return decimals_to_arrow(vector.data, mask, vector.type)
    target = type_to_arrow(vector.type)
    words = plain_words(target)  # None is equal to a dtype: it stands for that of doubles
    if mask is None and words is not None and words == vector.data.dtype and vector.data.flags.c_contiguous:
        return pa.Array.from_buffers(target, len(vector), [None, pa.py_buffer(vector.data)])
    try:
        return _cast_out(pa.array(vector.data, mask=mask), target)
    except pa.ArrowInvalid as e:
        raise DataError(f"A value does not fit {target}", detail=str(e)) from None


def _cast_out(array: pa.Array, target: pa.DataType) -> pa.Array:
    if pa.types.is_date32(target):
        return array.cast(pa.int32()).cast(target)
    return array if array.type == target else array.cast(target, safe=not pa.types.is_floating(target))


def constant(value: Any, type_: Type) -> Vector:
    """One row that stands for all; `value` is in physical form, None for null."""
    valid = np.zeros(1, np.bool_) if value is None else None
    if type_.kind is Kind.STRING:
        return Vector(type_, np.zeros(1, np.int64), valid, pa.array([value or ""], TEXT))
    dtype = physical_dtype(type_)
    return Vector(type_, np.array([0 if value is None else value], dtype), valid)


def physical_dtype(type_: Type) -> np.dtype:
    return np.dtype({Kind.BOOL: np.bool_, Kind.FLOAT: np.float64}.get(type_.kind, np.int64))
