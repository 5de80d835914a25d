"""Where nested patterns meet alternatives, windows of events and time that passes."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.plan.planner import TREE_EVALUATIONS
from ostinato.runtime.session.pattern_operator import PatternOperator

SCHEMA = pa.schema([("id", pa.int64()), ("ts", pa.int64()), ("kind", pa.string()), ("x", pa.int64())])


def stream(*events: tuple[int, str] | tuple[int, str, int]) -> pa.Table:
    """Times, types and values; they are numbered from 1 on."""
    rows = [{"id": number, "ts": time, "kind": kind, "x": x[0] if x else None} for number, (time, kind, *x) in enumerate(events, 1)]
    return pa.Table.from_pylist(rows, SCHEMA)


def compiled(text: str, strategy: str | None = None) -> ost.Query:
    return ost.compile(text, {"events": SCHEMA}, language="neel", type_by="kind", strategy=strategy)


def shown(table: pa.Table) -> list[dict[str, Any]]:
    names = [name for name in table.column_names if name not in ("match_id", "start_ts", "end_ts")]
    return [{name: row[name]["id"] for name in names if row[name] is not None} for row in table.to_pylist()]


def found(text: str, events: pa.Table, strategy: str) -> list[dict[str, Any]]:
    """The same in one go and event by event."""
    at_once = shown(ost.match(text, events=events, language="neel", type_by="kind", strategy=strategy).to_arrow())
    session = compiled(text, strategy).open()
    tables = [session.push(events.slice(place, 1)) for place in range(events.num_rows)]
    one_by_one = shown(pa.concat_tables([*tables, session.close()]))
    assert sorted(one_by_one, key=str) == sorted(at_once, key=str)
    return at_once


@pytest.mark.parametrize("strategy", TREE_EVALUATIONS)
@pytest.mark.parametrize("text, events, wanted", [
    ("PATTERN SEQ(A a, OR(SEQ(B b, a.x = 0), C c)) WITHIN 6", stream((1, "A", 1), (2, "C", 1)), [{"a": 1, "c": 2}]),
    ("PATTERN SEQ(A a, OR(SEQ(B b, a.x = 0), C c)) WITHIN 6", stream((1, "A", 1), (2, "B", 1)), []),
    ("PATTERN SEQ(OR(SEQ(B b, c.x = 0), A a), C c) WITHIN 6", stream((1, "A", 1), (2, "C", 1)), [{"a": 1, "c": 2}]),
    ("PATTERN SEQ(D d, !SEQ(A n, OR(SEQ(B b, n.x = 0), C m)), D e) WITHIN 6",
     stream((1, "D"), (2, "A", 1), (3, "C"), (4, "D")), []),
    ("PATTERN SEQ(A a, !(C c, 1 = 2), D d) WITHIN 6", stream((1, "A"), (2, "C"), (3, "D")), [{"a": 1, "d": 3}]),
    ("PATTERN SEQ(A a, !(C c, 1 < 2), D d) WITHIN 6", stream((1, "A"), (2, "C"), (3, "D")), []),
])  # fmt: skip
def test_conditions_of_an_alternative_hold_where_it_is_taken(strategy: str, text: str, events: pa.Table, wanted: list[Any]) -> None:
    assert found(text, events, strategy) == wanted


@pytest.mark.parametrize("strategy", TREE_EVALUATIONS)
def test_what_is_simultaneous_with_the_start_counts_beyond_a_window_of_events(strategy: str) -> None:
    assert found("PATTERN AND(!B n, A a, C c) WITHIN 2 events", stream((5, "B"), (5, "A"), (7, "C")), strategy) == []
    crowd = stream((5, "B"), *((5, "D") for _ in range(28)), (5, "A"), (7, "C"))
    assert found("PATTERN AND(!B n, A a, C c) WITHIN 5 events", crowd, strategy) == []
    alike = stream((5, "A"), (5, "A"), (7, "A"))
    assert found("PATTERN AND(!A n, A a, A b, a.id < b.id) WITHIN 2 events", alike, strategy) == [{"a": 1, "b": 2}]
    assert found("PATTERN AND(!B n, A a) WITHIN 1 events", stream((5, "B"), (5, "A"), (6, "A")), strategy) == [{"a": 3}]


@pytest.mark.parametrize("window", ["WITHIN 5 events", "WITHIN 5", ""])
def test_the_watermark_decides_what_simultaneous_events_could(window: str) -> None:
    session = compiled(f"PATTERN AND(A a, !B b, C c) {window}").open(lateness=0)
    assert session.push(stream((8, "A"), (10, "C"))).num_rows == 0
    assert session.advance(10).num_rows == 0
    assert session.advance(11).num_rows == 1
    assert session.close().num_rows == 0


@pytest.mark.parametrize(
    ("text", "visits"),
    [("PATTERN SEQ(A a, !(C c, c.x = a.x), B b, a.x = b.x)", 4), ("PATTERN SEQ(A a, B b, !(C c, c.x = a.x), a.x = b.x)", 39)],
)
def test_quiet_keys_are_looked_at_when_part_of_the_window_has_passed(text: str, visits: int) -> None:
    """Where time only lets their rows go; where it decides about matches, as often as their number is paid for."""
    schema = pa.schema([("x", pa.int64()), ("ts", pa.int64()), ("kind", pa.string())])
    session = ost.compile(f"{text} WITHIN 4000", {"events": schema}, language="neel", type_by="kind").open()
    session.push(pa.table({"x": range(100), "ts": [0] * 100, "kind": ["A"] * 100}))
    quiet = 0
    feed = PatternOperator.feed

    def counted(operator: PatternOperator, keys: np.ndarray, *given: Any, **named: Any) -> Any:
        nonlocal quiet
        quiet += len(keys) > 50
        return feed(operator, keys, *given, **named)

    with mock.patch.object(PatternOperator, "feed", counted):
        for start in range(1, 4001, 100):
            session.push(pa.table({"x": [1000] * 100, "ts": range(start, start + 100), "kind": ["A"] * 100}))
        assert abs(quiet - visits) <= 1
    session.push(pa.table({"x": [1000] * 100, "ts": range(9000, 9100), "kind": ["A"] * 100}))
    assert session.metrics()["retained_rows"] <= 200
