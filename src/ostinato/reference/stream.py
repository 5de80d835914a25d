"""The input as the meaning sees it: rows in their total order, each with its partition."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from ostinato.algebra.policies import NullKeys
from ostinato.algebra.query import MatchQuery, OrderKey
from ostinato.algebra.situations import Situations
from ostinato.base.errors import DataError
from ostinato.expr.times.nanoseconds import Duration

MICROSECOND = datetime.timedelta(microseconds=1)


@dataclass(frozen=True)
class Row:
    """`key` None: a null in a partition column makes the row one that is never selected."""

    position: int  # in the input list
    values: dict[str, Any]
    key: tuple[Any, ...] | None


def value_at(values: dict[str, Any], name: str) -> Any:
    """A column of this name, else the field at the end of this path; null where a struct on the way is."""
    if name in values:
        return values[name]
    for dot, letter in enumerate(name):
        if letter == "." and name[:dot] in values:
            struct = values[name[:dot]]
            return None if struct is None else value_at(struct, name[dot + 1 :])
    raise KeyError(name)


def ordered(query: MatchQuery | Situations, rows: list[dict[str, Any]]) -> list[Row]:
    """All rows in the order of the query. Ties keep the order of the input."""
    found = [Row(position, values, _key(query, values)) for position, values in enumerate(rows)]
    for order in reversed(query.order):
        found.sort(key=lambda row: _place(row, order), reverse=order.descending)
    return found


def _place(row: Row, order: OrderKey) -> tuple[Any, ...]:
    return rank(value_at(row.values, order.column), order.nulls_first != order.descending)


def partitions(query: MatchQuery | Situations, rows: list[dict[str, Any]]) -> list[list[Row]]:
    """The rows of each partition in order, partitions by their first row in the input; rows that are never selected are in none."""
    groups: dict[tuple[Any, ...] | None, list[Row]] = {_key(query, values): [] for values in rows}
    for row in ordered(query, rows):
        groups[row.key].append(row)
    return [group for key, group in groups.items() if key is not None]


def _key(query: MatchQuery | Situations, values: dict[str, Any]) -> tuple[Any, ...] | None:
    key = tuple(_groupable(value_at(values, column)) for column in query.partition)
    if query.null_keys is NullKeys.NEVER and None in key:
        return None
    return key


def _groupable(value: Any) -> Any:
    """SQL groups NaN with NaN, which Python holds to be unequal."""
    return "NaN" if isinstance(value, float) and value != value else value


def rank(value: Any, nulls_low: bool) -> tuple[Any, ...]:
    """By which values of a column are ordered."""
    if value is None:
        return (0 if nulls_low else 3,)
    if isinstance(value, float) and value != value:
        return (2,)  # above every number, as in DuckDB and Spark
    return (1, value)


def elapsed(query: MatchQuery, first: Row, last: Row) -> int:
    """The time between two rows, in the unit of a window: microseconds or nanoseconds, or that of an integer time column."""
    if query.time is None:
        raise DataError("a window in time needs a time column")
    begin, end = value_at(first.values, query.time), value_at(last.values, query.time)
    if begin is None or end is None:
        raise DataError(f"column {query.time} is null, so the row has no place in time")
    distance = end - begin
    if isinstance(distance, Duration):
        return abs(distance.nanos)
    return abs(distance // MICROSECOND if isinstance(distance, datetime.timedelta) else distance)
