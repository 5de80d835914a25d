"""The times of the rows of a batch, and their order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ostinato.base.errors import DataError
from ostinato.expr.types import Kind, Type
from ostinato.kernels.rows.farest_time import FAREST as FAREST
from ostinato.kernels.rows.read_only import borrowed
from ostinato.kernels.rows.time_range import time_range
from ostinato.kernels.vectors.vector import Vector
from ostinato.program.input import Input
from ostinato.runtime.rows.string_pool import ranks_of


class MissingTimeError(DataError):
    """A row without a time where time counts. Whoever put the rows in order knows where it stood before."""


def missing_time(column: str, stream: str, place: str = "") -> MissingTimeError:
    return MissingTimeError(
        f'the time column "{column}" of stream "{stream}" is null{place}',
        hint="rows without a time have no place in the order: filter them out, or give them a time",
    )


class EventTimes(NamedTuple):
    """The times of a batch as int64 (anything where they are null), and what is known of those that are not."""

    values: np.ndarray
    least: int
    greatest: int
    ascending: bool  # none of them is null, and none is smaller than the one before


def times_of(columns: dict[str, Vector], reads: Input, *, nulls_allowed: bool, presorted: bool = False) -> EventTimes | None:
    """Event times, or None if the program has no time column. `presorted` rows do not stand where the user has put them."""
    if reads.time < 0:
        return None
    vector = columns[reads.columns[reads.time].name]
    if len(vector.data) == 1 and vector.valid is None:
        only = int(vector.data[0])
        if -FAREST <= only <= FAREST:
            return EventTimes(vector.data, only, only, True)
    if not nulls_allowed and vector.valid is not None and not vector.valid.all():
        row = int(np.flatnonzero(~vector.valid)[0])
        raise missing_time(reads.time_name, reads.stream, "" if presorted else f" (row {row} of the batch, counted from 0)")
    times = np.ascontiguousarray(vector.data, np.int64)
    known = times if vector.valid is None else times[vector.valid]
    least, greatest, ascending = _range(known)
    if least < -FAREST or greatest > FAREST:
        raise DataError(
            f'a time in the column "{reads.time_name}" of stream "{reads.stream}" is beyond what can be calculated with',
            hint=_reaching(reads.columns[reads.time].type),
        )
    return EventTimes(times, least, greatest, ascending and len(known) == len(times))


def _reaching(type_: Type) -> str:
    if type_.kind is Kind.INT:
        return "whole numbers that are times reach from -2^62 to 2^62: filter out marks"
    return "times in nanoseconds reach from 1823 to 2116: cast the column to microseconds where it has later ones; filter out marks"


def _range(times: np.ndarray) -> tuple[int, int, bool]:
    """The least, the greatest, and whether they ascend."""
    if len(times) <= 1:
        only = int(times[0]) if len(times) else 0
        return only, only, True
    return time_range(borrowed(times))


def is_by_time(reads: Input) -> bool:
    """Whether nothing but the time orders the rows."""
    return len(reads.order) == 1 and reads.order[0][:2] == (reads.time, False)


def sort_order(columns: dict[str, Vector], reads: Input, times: EventTimes | None = None) -> np.ndarray | None:
    """The stable order of the rows by the program's order columns; None if they are in order already."""
    if times is not None and times.ascending and is_by_time(reads):
        return None
    keys = []
    for number, descending, nulls_first in reads.order:
        keys += _sort_keys(columns[reads.columns[number].name], descending, nulls_first)
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
