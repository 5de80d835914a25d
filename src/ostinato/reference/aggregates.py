"""Aggregates over plain values, nulls left out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ostinato.base.errors import DataError, UnsupportedError

INT64 = range(-(2**63), 2**63)


def aggregate(function: str, values: list[Any]) -> Any:
    """Over nothing: COUNT is 0, everything else null. `first` and `last` keep nulls out like the others; an array has them in it."""
    if function == "array":
        return values or None
    present = [value for value in values if value is not None]
    if function == "count":
        return len(present)
    if function not in _FUNCTIONS:
        raise UnsupportedError(f"aggregate {function} is not offered")
    return _FUNCTIONS[function](present) if present else None


def _sum(values: list[Any]) -> Any:
    if all(isinstance(value, int) for value in values):
        total = sum(values)
        if total not in INT64:
            raise DataError("integer overflow in SUM")
        return total
    if all(isinstance(value, float) for value in values):
        return math.fsum(values)
    return sum(values[1:], values[0])


def _average(values: list[Any]) -> Any:
    if all(isinstance(value, float) for value in values):
        return math.fsum(values) / len(values)
    return sum(values[1:], values[0]) / len(values)


def _deviation(values: list[Any]) -> float | None:
    """Of a sample: null for a single value."""
    if len(values) < 2:
        return None
    numbers = [float(value) for value in values]
    mean = math.fsum(numbers) / len(numbers)
    return math.sqrt(math.fsum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1))


def _rank(value: Any) -> tuple[bool, Any]:
    """NaN is greater than every number, as in DuckDB and Spark."""
    return (True, 0) if isinstance(value, float) and math.isnan(value) else (False, value)


_FUNCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "sum": _sum,
    "avg": _average,
    "min": lambda values: min(values, key=_rank),
    "max": lambda values: max(values, key=_rank),
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "stddev": _deviation,
}
