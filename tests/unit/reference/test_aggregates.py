"""Aggregates over plain values."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import pytest

from ostinato.base.errors import DataError, UnsupportedError
from ostinato.expr.nodes import AGGREGATES
from ostinato.reference.aggregates import aggregate


@pytest.mark.parametrize(
    ("function", "values", "result"),
    [
        ("count", [1, None, 2], 2),
        ("sum", [1, None, 2], 3),
        ("sum", [0.1] * 10, 1.0),
        ("sum", [Decimal("1.10"), Decimal("2.20")], Decimal("3.30")),
        ("sum", [datetime.timedelta(1), datetime.timedelta(2)], datetime.timedelta(3)),
        ("avg", [1, 2, None], 1.5),
        ("avg", [0.5, 1.5], 1.0),
        ("min", ["b", "a", None], "a"),
        ("max", ["b", "a", None], "b"),
        ("first", [None, 2, 3], 2),
        ("last", [1, 2, None], 2),
        ("stddev", [1, 3], 2**0.5),
        ("stddev", [1], None),
    ],
)
def test_value(function: str, values: list[Any], result: Any) -> None:
    assert aggregate(function, values) == result


@pytest.mark.parametrize("function", AGGREGATES)
def test_over_nothing(function: str) -> None:
    assert aggregate(function, [None]) == (0 if function == "count" else None)


def test_overflow_is_an_error() -> None:
    with pytest.raises(DataError, match="overflow"):
        aggregate("sum", [2**63 - 1, 1])


def test_unknown_aggregates_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="median"):
        aggregate("median", [1])


@pytest.mark.parametrize("values", [[math.nan, 1.0, 2.0], [2.0, math.nan, 1.0], [1.0, 2.0, math.nan]])
def test_nan_is_the_greatest_wherever_it_stands(values):
    assert aggregate("min", values) == 1.0
    assert math.isnan(aggregate("max", values))
