"""Order and partitions of the input."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from ostinato.algebra.pattern import Variable
from ostinato.algebra.policies import NullKeys, Selection
from ostinato.algebra.query import MatchQuery, OrderKey
from ostinato.base.errors import DataError
from ostinato.expr.types import FLOAT, STRING, TIMESTAMP
from ostinato.expr.typing.schema import Schema
from ostinato.reference.stream import elapsed, ordered, partitions

SCHEMA = Schema((("w", FLOAT), ("p", STRING), ("ts", TIMESTAMP)))


def query(**changes: Any) -> MatchQuery:
    return MatchQuery("t", SCHEMA, Variable("A"), (), Selection.PREFERRED, **changes)


@pytest.mark.parametrize(
    ("key", "order"),
    [
        (OrderKey("w"), [1, 4, 0, 2, 3]),
        (OrderKey("w", nulls_first=True), [3, 1, 4, 0, 2]),
        (OrderKey("w", descending=True), [2, 0, 1, 4, 3]),
        (OrderKey("w", descending=True, nulls_first=True), [3, 2, 0, 1, 4]),
    ],
)
def test_order_with_nulls_nan_and_ties(key: OrderKey, order: list[int]) -> None:
    rows = [{"w": 2.0}, {"w": 1.0}, {"w": float("nan")}, {"w": None}, {"w": 1.0}]
    assert [row.position for row in ordered(query(order=(key,)), rows)] == order


def test_a_second_key_decides_ties() -> None:
    rows = [{"w": 1.0, "p": "b"}, {"w": 0.0, "p": "z"}, {"w": 1.0, "p": "a"}]
    found = ordered(query(order=(OrderKey("w"), OrderKey("p"))), rows)
    assert [row.position for row in found] == [1, 2, 0]


def test_null_keys_are_a_group_or_in_none() -> None:
    rows = [{"p": "x"}, {"p": None}, {"p": "x"}, {"p": None}]
    grouped = partitions(query(partition=("p",)), rows)
    assert [[row.position for row in group] for group in grouped] == [[0, 2], [1, 3]]
    never = partitions(query(partition=("p",), null_keys=NullKeys.NEVER), rows)
    assert [[row.position for row in group] for group in never] == [[0, 2]]


def test_nan_groups_with_nan() -> None:
    assert len(partitions(query(partition=("w",)), [{"w": float("nan")}, {"w": float("nan")}])) == 1


def test_elapsed_time_of_timestamps_is_in_microseconds() -> None:
    rows = [{"ts": datetime.datetime(2026, 1, 1)}, {"ts": datetime.datetime(2026, 1, 1, 0, 0, 1)}]
    first, last = ordered(query(time="ts", order=(OrderKey("ts"),)), rows)
    assert elapsed(query(time="ts"), first, last) == 1_000_000


def test_a_null_has_no_place_in_time() -> None:
    (row,) = ordered(query(time="ts"), [{"ts": None}])
    with pytest.raises(DataError, match="ts"):
        elapsed(query(time="ts"), row, row)


def test_a_window_needs_a_time_column() -> None:
    (row,) = ordered(query(), [{"ts": None}])
    with pytest.raises(DataError, match="time column"):
        elapsed(query(), row, row)
