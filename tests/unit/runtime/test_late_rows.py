"""Rows that come too late can be had, with the reason."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

import ostinato as ost

NOON = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)


def rows(*minutes: int) -> pa.Table:
    times = pa.array([NOON + datetime.timedelta(minutes=m) for m in minutes], pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "n": pa.array(minutes, pa.int32()), "unread": ["x"] * len(minutes)})


TEXT = "PATTERN SEQ(A a, A b) RETURN a.n AS a, b.n AS b"
QUERY = ost.compile(TEXT, {"a": rows().schema})


def test_late_rows_are_handed_over_once() -> None:
    session = QUERY.open(lateness="1 minute", late="keep")
    session.push(rows(0, 5))
    session.push(rows(3, 6, 4))
    session = QUERY.open(snapshot=session.snapshot())
    session.push(rows(1))
    late = session.take_late()
    assert late.column_names == ["ts", "n", "reason"] and late.schema.field("n").type == pa.int32()
    assert [(row["n"], row["reason"]) for row in late.to_pylist()] == [
        (3, "before the watermark 2026-01-01 12:04:00.000000Z"),
        (1, "before the watermark 2026-01-01 12:05:00.000000Z"),
    ]
    assert session.take_late().num_rows == 0 and session.take_late().schema == late.schema
    assert session.metrics()["late_rows"] == 2
    assert session.close().to_pylist() == [{"a": 4, "b": 5}, {"a": 5, "b": 6}]


def test_those_that_nobody_takes_count_for_the_budget() -> None:
    session = QUERY.open(late="keep", budget=ost.Budget(bytes=100_000))
    session.push(rows(10_000))
    with pytest.raises(ost.BudgetError, match="to be taken as late") as caught:
        session.push(rows(*range(5_000)))
    assert "take late rows" in caught.value.hint


def test_otherwise_they_are_counted() -> None:
    session = QUERY.open()
    session.push(rows(5))
    session.push(rows(3))
    assert session.metrics()["late_rows"] == 1
    with pytest.raises(ost.OstinatoError, match="only counted"):
        session.take_late()


def test_of_several_streams_they_have_the_columns_of_all() -> None:
    a, b = pa.table({"ts": [5], "n": [1]}), pa.table({"ts": [3], "reason": ["own"]})
    query = ost.compile("PATTERN SEQ(A a, B b)", {"a": a.schema, "b": b.schema})
    session = query.open(late="keep")
    session.push("a", a)
    session.push("b", b)
    (late,) = session.take_late().to_pylist()
    assert late == {"ts": 3, "n": None, "reason": "own", "event_type": "b", "reason_": "before the watermark 5"}
