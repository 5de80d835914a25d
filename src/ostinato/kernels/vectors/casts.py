"""Columns of one type as another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.base.errors import DataError
from ostinato.expr.types import STRING, Kind, Type
from ostinato.expr.typing.arrow_types import to_arrow as type_to_arrow
from ostinato.expr.values.casts import limit, out_of_range, parsed, text_of
from ostinato.kernels.vectors.arithmetic import checked_product
from ostinato.kernels.vectors.dictionaries import lookup, without_unused_entries
from ostinato.kernels.vectors.nulls import failing, joint_failure
from ostinato.kernels.vectors.numbers import half_away
from ostinato.kernels.vectors.times import DAY
from ostinato.kernels.vectors.vector import TEXT, Failure, Vector, physical_dtype, with_distinct_entries

BOUND = float(2**63)


def cast(vector: Vector, to: Type) -> Vector:
    own = vector.type
    if own.kind is Kind.NULL:
        return _typed_nulls(vector, to)
    assert own.is_computable and to.is_computable, "types are checked before"
    if to.kind is Kind.STRING:
        return vector if own.kind is Kind.STRING else _to_text(vector)
    if own.kind is Kind.STRING:
        return _from_text(vector, to)
    if to.kind is Kind.FLOAT:
        data = vector.data.astype(np.float64, copy=False)
        return Vector(to, data / 10.0**own.scale if own.scale else data, vector.valid)
    if to.kind is Kind.BOOL:
        return Vector(to, vector.data != 0, vector.valid)
    if to.kind in (Kind.INT, Kind.DECIMAL):
        return _to_exact(vector, to)
    return _to_time(vector, to)


def _typed_nulls(vector: Vector, to: Type) -> Vector:
    dictionary = pa.array([""], TEXT) if to.kind is Kind.STRING else None
    if to.opaque is not None:
        dictionary = pa.nulls(len(vector), type_to_arrow(to))
    return Vector(to, np.zeros(len(vector), physical_dtype(to)), np.zeros(len(vector), np.bool_), dictionary)


def _to_exact(vector: Vector, to: Type) -> Vector:
    """Doubles: halves to even; decimals: halves away from zero."""
    own, data, beyond = vector.type, vector.data, None
    if own.kind is Kind.FLOAT:
        data, beyond = _from_doubles(data, to.scale)
    elif to.scale > own.scale:
        data, beyond = checked_product(data.astype(np.int64), np.array([10 ** (to.scale - own.scale)], np.int64))
    elif to.scale < own.scale:
        data = half_away(data, own.scale - to.scale)
    data = data.astype(np.int64, copy=False)
    reason = out_of_range(to)
    failure = None if beyond is None else failing(beyond, vector.valid, reason.message, reason.hint)
    held = limit(to)
    if held.stop < 2**63:
        outside = (data < held.start) | (data >= held.stop)
        failure = joint_failure(failure, failing(outside, vector.valid, reason.message, reason.hint))
    return Vector(to, data, vector.valid, None, failure)


def _from_doubles(data: np.ndarray, scale: int) -> tuple[np.ndarray, np.ndarray]:
    moved = np.rint(data * 10.0**scale if scale else data)
    beyond = ~((moved >= -BOUND) & (moved < BOUND))
    return np.where(beyond, 0.0, moved).astype(np.int64), beyond


def _to_time(vector: Vector, to: Type) -> Vector:
    own = vector.type
    if own.kind is Kind.DATE and to.kind is Kind.TIMESTAMP:
        return _finer(vector, to, DAY * to.ticks)
    if own.kind is Kind.TIMESTAMP and to.kind is Kind.DATE:
        return Vector(to, vector.data // (DAY * own.ticks), vector.valid)
    if to.ticks < own.ticks:
        return Vector(to, vector.data // (own.ticks // to.ticks), vector.valid)
    return Vector(to, vector.data, vector.valid) if to.ticks == own.ticks else _finer(vector, to, to.ticks // own.ticks)


def _finer(vector: Vector, to: Type, factor: int) -> Vector:
    data, beyond = checked_product(vector.data, np.array([factor], np.int64))
    reason = out_of_range(to)
    return Vector(to, data, vector.valid, None, failing(beyond, vector.valid, reason.message, reason.hint))


def _to_text(vector: Vector) -> Vector:
    """Each distinct value is written once."""
    images = vector.data.view(np.int64) if vector.type.kind is Kind.FLOAT else vector.data
    if vector.valid is not None:
        images = np.where(vector.valid, images, images.dtype.type(0))
    distinct, codes = np.unique(images, return_inverse=True)
    values = distinct.view(np.float64) if vector.type.kind is Kind.FLOAT else distinct
    texts, failure = _per_entry(values.tolist(), lambda value: text_of(value, vector.type), "", codes, vector.valid)
    found = with_distinct_entries(Vector(STRING, codes.astype(np.int64), vector.valid, pa.array(texts, TEXT)))
    found.failure = failure
    return found


def _from_text(vector: Vector, to: Type) -> Vector:
    """Each distinct string is read once; what cannot be read fails where it occurs."""
    vector = without_unused_entries(vector)
    values, failure = _per_entry(vector.dictionary.to_pylist(), lambda text: parsed(text, to), 0, vector.data, vector.valid)
    return Vector(to, lookup(np.array(values, physical_dtype(to)), vector.data), vector.valid, None, failure)


def _per_entry(
    entries: list[Any], convert: Callable[[Any], Any], instead: Any, codes: np.ndarray, valid: np.ndarray | None
) -> tuple[list[Any], Failure | None]:
    """The converted entries, and the failure of the rows whose entry could not be converted."""
    values, bad, reason = [], np.zeros(len(entries), np.bool_), None
    for i, entry in enumerate(entries):
        try:
            values.append(convert(entry))
        except DataError as e:
            values.append(instead)
            bad[i], reason = True, reason or e
    if reason is None:
        return values, None
    return values, failing(lookup(bad, codes), valid, reason.message, reason.hint)
