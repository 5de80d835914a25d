"""Aggregates over all matches of a query: collected from the matches as they are reported, or taken from a matcher that sums up itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.base.errors import DataError, StateError
from ostinato.expr.types import Kind
from ostinato.kernels.vectors.evaluate import evaluate
from ostinato.kernels.vectors.vector import Vector, to_arrow
from ostinato.program.measure_code import MatchAggregate
from ostinato.program.pattern import Pattern
from ostinato.runtime.limits.budget import too_many_matches
from ostinato.runtime.output.measures import MatchView

LIMIT = 2**63
Total = tuple[int, Any]  # of an aggregate: how many values there were, and their sum, least or greatest (of an average: their sum)


class MatchTotals:
    """Per aggregate how many values there were, and what they make together (None at first). Whole numbers are Python's, hence exact."""

    def __init__(self, pattern: Pattern) -> None:
        self._specs = pattern.measures.aggregates
        self._counts = [0] * len(self._specs)
        self._values: list[Any] = [None] * len(self._specs)

    def add(self, view: MatchView) -> None:
        for number, spec in enumerate(self._specs):
            if spec.variable < 0 and spec.value < 0:
                self._counts[number] += len(view.matches)
                continue
            chosen = np.ones(len(view.matches.variables), np.bool_)
            if spec.variable >= 0:
                chosen = view.matches.variables == spec.variable
            if spec.value < 0:
                self._counts[number] += int(np.count_nonzero(chosen))
                continue
            vector = view.row_values()[spec.value]
            if vector.valid is not None:
                chosen = chosen & vector.valid
            self._take_in(number, spec.function, vector, np.flatnonzero(chosen))

    def _take_in(self, number: int, function: str, vector: Vector, chosen: np.ndarray) -> None:
        self._counts[number] += len(chosen)
        if function == "count" or not len(chosen):
            return
        found = _reduced(function, vector, chosen)
        known = self._values[number]
        self._values[number] = found if known is None else _together(function, known, found)

    def totals(self) -> list[Total]:
        return list(zip(self._counts, self._values, strict=True))

    def state(self) -> bytes:
        return json.dumps([self._counts, self._values]).encode()

    def load(self, state: bytes) -> None:
        loaded = json.loads(state)
        check_totals(loaded, self._specs)
        self._counts, self._values = loaded


def check_totals(state: Any, specs: Sequence[MatchAggregate]) -> None:
    """Refuse what `MatchTotals.state` cannot have given."""
    counts, values = state
    if len(counts) != len(specs) or len(values) != len(specs):
        raise StateError("the snapshot is not valid", detail="a total for every aggregate expected")
    for spec, count, value in zip(specs, counts, values, strict=True):
        numeric = (float, int) if spec.type.kind is Kind.FLOAT or spec.function == "avg" else int
        fits = value is None or (not isinstance(value, bool) and isinstance(value, str if spec.type.kind is Kind.STRING else numeric))
        if type(count) is not int or count < 0 or not fits or (value is None and count > 0 and spec.function != "count"):
            raise StateError("the snapshot is not valid", detail="totals of the types of their aggregates expected")


def together(pattern: Pattern, one: Sequence[Total], other: Sequence[Total]) -> list[Total]:
    """What two parts of all matches make together."""
    parts = zip(pattern.measures.aggregates, one, other, strict=True)
    return [_joined(spec.function, *both) for spec, *both in parts]


def _joined(function: str, one: Total, other: Total) -> Total:
    if not one[0] or not other[0]:
        return (other if other[0] else one)[:2]
    return one[0] + other[0], None if function == "count" else _together(function, one[1], other[1])


def _finished(pattern: Pattern, spec: MatchAggregate, count: int, value: Any) -> Any:
    """The value of an aggregate, None where there was nothing to aggregate."""
    if count >= LIMIT:
        raise too_many_matches(pattern)
    if spec.function == "count":
        return count
    if count == 0:
        return None
    if spec.function == "avg":
        value = value / count
        return value if spec.type.kind is Kind.FLOAT else round(value)
    if isinstance(value, int) and not -LIMIT <= value < LIMIT:
        raise DataError("SUM goes beyond 64 bits", hint="CAST its argument to DOUBLE if rounding is acceptable")
    return value


def _reduced(function: str, vector: Vector, chosen: np.ndarray) -> Any:
    data = vector.data[chosen]
    if vector.type.kind is Kind.STRING:
        texts = vector.dictionary.take(pa.array(np.unique(data))).to_pylist()
        return min(texts) if function == "min" else max(texts)
    if function == "avg":
        scale = 10.0**vector.type.scale if vector.type.kind is Kind.DECIMAL else 1.0
        return float(np.sum(data.astype(np.float64)) / scale)
    if data.dtype == np.float64:
        return _reduced_floats(function, data)
    whole = data.astype(np.int64)
    if function == "sum":
        return (int(np.sum(whole >> 32)) << 32) + int(np.sum(whole & 0xFFFFFFFF))
    return int(whole.min() if function == "min" else whole.max())


def _reduced_floats(function: str, data: np.ndarray) -> float:
    """NaN is greater than every number."""
    if function == "sum":
        return float(np.sum(data))
    if function == "max":
        return float(data.max())
    return float(data.min() if np.isnan(data).all() else np.nanmin(data))


def _together(function: str, one: Any, other: Any) -> Any:
    if function in ("sum", "avg"):
        return one + other
    if isinstance(one, float):
        return _reduced_floats(function, np.array([one, other]))
    return min(one, other) if function == "min" else max(one, other)


def totals_table(pattern: Pattern, schema: pa.Schema, totals: Sequence[Total]) -> pa.Table:
    """The one row of the output; `totals` are those of the program's aggregates."""
    code = pattern.measures.code
    assert code is not None

    def aggregate(name: str) -> Vector:
        number = int(name.partition(":")[2])
        spec = pattern.measures.aggregates[number]
        return _vector(spec, _finished(pattern, spec, *totals[number]))

    columns = [to_arrow(v) for v in evaluate(code, 1, aggregate)]
    return pa.table([c if c.type == f.type else c.cast(f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def _vector(spec: MatchAggregate, value: Any) -> Vector:
    valid = np.array([value is not None])
    if spec.type.kind is Kind.STRING:
        return Vector(spec.type, np.zeros(1, np.int64), valid, pa.array([value or ""], pa.large_string()))
    dtype = {Kind.FLOAT: np.float64, Kind.BOOL: np.bool_}.get(spec.type.kind, np.int64)
    return Vector(spec.type, np.array([0 if value is None else value], dtype), valid, None)
