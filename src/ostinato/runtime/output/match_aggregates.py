"""Aggregates over the rows of matches: a value per match, or one at each of its rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from ostinato.base.errors import DataError
from ostinato.expr.types import FLOAT, INT, Kind
from ostinato.expr.typing.arrow_types import to_arrow as arrow_type
from ostinato.kernels.output import match_rows
from ostinato.kernels.rows.grouping import ranges
from ostinato.kernels.vectors.vector import Vector, to_arrow
from ostinato.program.measure_code import MatchAggregate
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.rows.string_pool import ranks_of

REDUCTIONS = {
    "sum": match_rows.SUM,
    "min": match_rows.MIN,
    "max": match_rows.MAX,
    "first": match_rows.FIRST,
    "last": match_rows.LAST,
    "avg": match_rows.MEAN,
    "stddev": match_rows.STDDEV,
}
NO_FLAGS = np.empty(0, np.uint8)
MOST_LISTED = 2**31 - 1  # values in the lists of one Arrow array


def aggregated(spec: MatchAggregate, matches: Matches, belongs: np.ndarray, values: Vector | None, running: bool = False) -> Vector:
    """`values` at all rows of all matches; None counts rows. `belongs` as in `kernels.output.match_rows`. `running`: not a value per
    match, but at each row of all matches the one of the match up to there."""
    valid = NO_FLAGS if values is None or values.valid is None else values.valid.view(np.uint8)
    if values is None or spec.function == "count":
        return _count(matches, belongs, valid, running)
    if spec.function in ("avg", "stddev") or values.data.dtype == np.float64:
        return _reduced_floats(spec, matches, belongs, values, valid, running)
    size = matches.row_count if running else len(matches)
    out, found = np.zeros(size, np.int64), np.zeros(size, np.bool_)
    data, back = _orderable(values)
    what = REDUCTIONS[spec.function]
    failed = match_rows.reduce_ints(matches.offsets, matches.variables, data, valid, belongs, what, running, out, found)
    if failed >= 0:
        raise DataError("SUM goes beyond 64 bits", hint="CAST its argument to DOUBLE if rounding is acceptable")
    return Vector(spec.type, back(out), found, values.dictionary)


def _count(matches: Matches, belongs: np.ndarray, valid: np.ndarray, running: bool) -> Vector:
    if not len(belongs) and not len(valid) and not running:
        return Vector(INT, np.diff(matches.offsets), None, None)
    if not len(valid) and not running and matches.stretches is not None:
        return Vector(INT, matches.stretches.counts(belongs), None, None)
    out = np.zeros(matches.row_count if running else len(matches), np.int64)
    match_rows.count_rows(matches.offsets, matches.variables, valid, belongs, running, out)
    return Vector(INT, out, None, None)


def _reduced_floats(
    spec: MatchAggregate, matches: Matches, belongs: np.ndarray, values: Vector, valid: np.ndarray, running: bool
) -> Vector:
    data = values.data.astype(np.float64, copy=False)
    if values.type.kind is Kind.DECIMAL:
        data = data / 10.0**values.type.scale
    size = matches.row_count if running else len(matches)
    out, found = np.zeros(size, np.float64), np.zeros(size, np.bool_)
    what = REDUCTIONS[spec.function]
    match_rows.reduce_floats(matches.offsets, matches.variables, np.ascontiguousarray(data), valid, belongs, what, running, out, found)
    if spec.type.kind is FLOAT.kind:
        return Vector(spec.type, out, found, None)
    return Vector(spec.type, np.rint(out).astype(np.int64), found, None)  # the mean of intervals


def _orderable(values: Vector) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Integers that compare as the values do, and the way back."""
    if values.type.kind is Kind.STRING:
        ranks = ranks_of(values.dictionary) if len(values.dictionary) else np.zeros(1, np.int64)
        code_of_rank = np.argsort(ranks)
        return ranks[values.data], lambda out: code_of_rank[out]
    if values.data.dtype == np.bool_:
        return values.data.astype(np.int64), lambda out: out.astype(np.bool_)
    return np.ascontiguousarray(values.data, np.int64), lambda out: out


def listed_values(variables: np.ndarray, belongs: np.ndarray, begin: np.ndarray, behind: np.ndarray) -> int:
    """How many values `arrays` would hold."""
    before = np.arange(len(variables) + 1)
    if len(belongs):
        before = np.concatenate([[0], np.cumsum(belongs[variables], dtype=np.int64)])
    return int((before[behind] - before[begin]).sum())


def arrays(
    spec: MatchAggregate, variables: np.ndarray, belongs: np.ndarray, values: Vector, begin: np.ndarray, behind: np.ndarray
) -> Vector:
    """ARRAY_AGG: for every line the values, nulls too, at those of the rows begin[i]..behind[i] that belong; null where none does."""
    chosen = np.flatnonzero(belongs[variables]) if len(belongs) else np.arange(len(variables))
    first, end = np.searchsorted(chosen, begin), np.searchsorted(chosen, behind)
    counts = end - first
    if int(counts.sum()) > MOST_LISTED:
        raise DataError("The arrays of ARRAY_AGG hold too many values", hint="Bound the matches by WITHIN, or take FINAL ARRAY_AGG")
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    listed = to_arrow(values).take(pa.array(chosen[ranges(first, counts)]))
    type_ = arrow_type(spec.type)
    lists = pa.ListArray.from_arrays(pa.array(offsets), listed.cast(type_.value_type), type=type_)
    return Vector(spec.type, np.arange(len(lists)), counts > 0, lists)
