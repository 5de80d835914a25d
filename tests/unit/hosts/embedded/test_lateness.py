"""Rows taken as they arrive: which are late is decided row by row, whatever holds them, and they can be had with the reason."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost

TEXT = "PATTERN SEQ(T a, T b) RETURN a.ts AS a, b.ts AS b"
CLAUSE = "ORDER BY ts MEASURES A.ts AS a, B.ts AS b AFTER MATCH SKIP TO NEXT ROW PATTERN (A B) DEFINE A AS TRUE"
SQL = f"SELECT * FROM t MATCH_RECOGNIZE ({CLAUSE})"
AROUND = f"SELECT a + b AS s FROM ({SQL})"


def table(*times: int) -> pa.Table:
    return pa.table({"ts": pa.array(times, pa.int64()), "unread": ["x"] * len(times)})


MIXED = table(1, 5, 3, 2, 9, 8, 4, 9, 10)
LATE = [(2, "before the watermark 3"), (4, "before the watermark 7")]


def forms(rows: pa.Table) -> list[object]:
    return [rows, rows.to_batches(2), pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches(3)), rows.to_pandas()]


@pytest.mark.parametrize("form", range(4))
@pytest.mark.parametrize("text", [TEXT, SQL])
def test_late_rows_are_the_same_whatever_holds_them(text: str, form: int) -> None:
    run = ost.sql if text is SQL else ost.match
    found = run(text, t=forms(MIXED)[form], lateness=2, late="keep")
    assert [(row["a"], row["b"]) for row in found] == [(1, 3), (3, 5), (5, 8), (8, 9), (9, 9), (9, 10)]
    assert found.late.column_names == ["ts", "reason"]
    assert [tuple(row.values()) for row in found.late.to_pylist()] == LATE
    assert found.metrics["late_rows"] == 2


@pytest.mark.parametrize("lateness", [0, 1, 7])
@pytest.mark.parametrize("seed", range(6))
def test_as_a_session_that_gets_one_row_at_a_time(seed: int, lateness: int) -> None:
    chance = np.random.default_rng(seed)
    rows = table(*(int(t) for t in np.arange(40) + chance.integers(-6, 7, 40)))
    session = ost.compile(TEXT, t=rows).open(lateness=lateness, late="keep")
    decided = [session.push(rows.slice(i, 1)) for i in range(len(rows))]
    expected = pa.concat_tables([*decided, session.close()])
    found = ost.match(TEXT, t=rows, lateness=lateness, late="keep")
    assert found.to_arrow() == expected
    assert found.late == session.take_late()


def test_of_a_lazy_result() -> None:
    found = ost.match(TEXT, t=MIXED, lateness=2, late="keep", lazy=True)
    assert sum(batch.num_rows for batch in found.batches()) == 6
    assert [tuple(row.values()) for row in found.late.to_pylist()] == LATE
    assert ost.match(TEXT, t=MIXED, lateness=2, late="keep", lazy=True).late.num_rows == 2


def test_of_several_streams() -> None:
    orders, trades = table(4, 5, 1, 9), pa.table({"ts": [2, 6, 5], "price": [1.0, 2.0, 3.0]})
    found = ost.match(
        "PATTERN SEQ(Orders o, Trades t) RETURN o.ts AS o, t.ts AS t, t.price", orders=orders, trades=trades, lateness=0, late="keep"
    )
    assert [row["t"] for row in found] == [6, 6]
    assert sorted(row["reason"] for row in found.late.to_pylist()) == ["before the watermark 5", "before the watermark 6"]


def test_sql_around_a_clause() -> None:
    assert [row["s"] for row in ost.sql(AROUND, t=MIXED, lateness=0)] == [6, 14, 18, 19]
    assert [row["s"] for row in ost.sql(AROUND, t=MIXED)][:2] == [3, 5]
    with pytest.raises(ost.UnsupportedError, match="not kept by SQL around a pattern"):
        ost.sql(AROUND, t=MIXED, lateness=0, late="keep")


def test_of_several_queries() -> None:
    two = "PATTERN SEQ(T a, T b) RETURN Pair(a.ts AS ts); PATTERN SEQ(Pair p) RETURN p.ts AS ts"
    with pytest.raises(ost.UnsupportedError, match="not kept by several queries in one text"):
        ost.match(two, t=MIXED, lateness=0, late="keep")


def test_only_counted_unless_asked_for() -> None:
    found = ost.match(TEXT, t=MIXED, lateness=2)
    assert found.metrics["late_rows"] == 2
    with pytest.raises(ost.OstinatoError, match="late rows were not kept") as caught:
        _ = found.late
    assert 'late="keep"' in str(caught.value.hint)
    with pytest.raises(ost.OstinatoError, match="late rows were not kept") as caught:
        _ = ost.match(TEXT, t=MIXED).late
    assert "lateness=" in str(caught.value.hint)


@pytest.mark.parametrize("run", [ost.match, ost.sql])
def test_late_needs_a_lateness(run) -> None:
    with pytest.raises(ost.OstinatoError, match="late= needs lateness="):
        run(TEXT if run is ost.match else SQL, t=MIXED, late="keep")
    with pytest.raises(ost.OstinatoError, match="late='drop' is unknown"):
        run(TEXT if run is ost.match else SQL, t=MIXED, lateness=1, late="drop")


@pytest.mark.parametrize("lateness", ["5 seconds", dt.timedelta(seconds=5), 2.5])
def test_what_an_integer_time_takes(lateness: object) -> None:
    query = ost.compile(TEXT, t=MIXED)
    for run in (
        lambda: ost.match(TEXT, t=MIXED, lateness=lateness),
        lambda: ost.sql(SQL, t=MIXED, lateness=lateness),
        lambda: query.open(lateness=lateness),
    ):
        with pytest.raises(ost.DataError, match="does not fit the time column `ts`, which is a number") as caught:
            run()
        assert "whole number" in caught.value.hint


def test_what_a_timestamp_takes() -> None:
    """A number is in the unit of the column, on every way in."""
    stamped = pa.table({"ts": pa.array([5, 1, 9, 2], pa.timestamp("us"))})
    for lateness in (4, "4 microseconds", dt.timedelta(microseconds=4)):
        found = ost.match(TEXT, t=stamped, lateness=lateness, late="keep")
        assert len(found) == 2 and found.late.num_rows == 1


def test_an_order_without_a_time_has_no_lateness() -> None:
    named = pa.table({"name": ["a", "b"]})
    text = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY name MEASURES A.name AS n PATTERN (A) DEFINE A AS TRUE)"
    query = ost.compile(text, t=named)
    for run in (lambda: ost.sql(text, t=named, lateness=1), lambda: query.open(lateness=1)):
        with pytest.raises(ost.DataError, match="lateness= needs a time column"):
            run()
    assert query.open(lateness=0).push(named).num_rows + ost.sql(text, t=named).to_arrow().num_rows
