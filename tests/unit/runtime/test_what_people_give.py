"""Lateness, watermarks, batches, schemas and budgets as people give them."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

import ostinato as ost

TEXT = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(*) AS n PATTERN (A B) WITHIN {within} DEFINE B AS x > 0)"
TIMES = pa.table({"ts": [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 0, 1)], "x": [0, 1]})
NUMBERS = pa.table({"ts": [1, 2], "x": [0, 1]})


def query(rows: pa.Table) -> ost.Query:
    within = "5" if rows is NUMBERS else "INTERVAL '5' MINUTE"
    return ost.compile(TEXT.format(within=within), {"t": rows.schema})


@pytest.mark.parametrize("lateness", ["2 minutes", dt.timedelta(minutes=2), 120_000_000])
def test_lateness_of_times(lateness):
    session = query(TIMES).open(lateness=lateness)
    assert session.push(TIMES).num_rows == 0
    assert session.advance(dt.datetime(2024, 1, 1, 0, 2)).num_rows == 1


def test_watermarks_with_a_zone_are_moments():
    session = query(TIMES).open(lateness=None)
    session.push(TIMES)
    zone = dt.timezone(dt.timedelta(hours=1))
    assert session.advance(dt.datetime(2024, 1, 1, 1, 0, tzinfo=zone)).num_rows == 0
    assert session.advance(dt.datetime(2024, 1, 1, 1, 2, tzinfo=zone)).num_rows == 1


@pytest.mark.parametrize("lateness", [-1, "2 minutes", dt.timedelta(1), 1.5])
def test_lateness_that_does_not_fit(lateness):
    with pytest.raises(ost.DataError, match="lateness="):
        query(NUMBERS).open(lateness=lateness)


@pytest.mark.parametrize("watermark", ["soon", None, 1.5, True, dt.date(2024, 1, 1)])
def test_watermarks_that_do_not_fit(watermark):
    with pytest.raises(ost.DataError, match="watermark"):
        query(NUMBERS).open(lateness=None).advance(watermark)


def test_frames_are_batches_and_other_things_are_not():
    session = query(NUMBERS).open()
    assert session.push(NUMBERS.to_pandas()).num_rows == 1
    with pytest.raises(ost.DataError, match="cannot be read from a list"):
        session.push([1, 2])


def test_budgets():
    assert ost.Budget(overflow="shed oldest").overflow.value == "shed oldest"
    for wrong in ({"runs": 0}, {"bytes": -1}, {"runs": 1.5}, {"overflow": "explode"}):
        with pytest.raises(ost.OstinatoError, match="A budget"):
            ost.Budget(**wrong)


def test_what_compile_takes():
    text = TEXT.format(within="5")
    assert ost.compile(text, {"t": NUMBERS}).pattern == ost.compile(text, {"t": NUMBERS.schema}).pattern
    with pytest.raises(ost.SchemaError, match="schema of stream `t` is a str"):
        ost.compile(text, {"t": "x"})
    with pytest.raises(ost.OstinatoError, match='no "magic" to leave out'):
        ost.compile(text, {"t": NUMBERS.schema}, without=("magic",))
    with pytest.raises(ost.OstinatoError, match="is no budget"):
        query(NUMBERS).open(budget=5)
