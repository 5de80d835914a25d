"""Texts that steps make: remembered while instances carry them, forgotten afterwards, within the budget, with errors that say why."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.kernels.vectors import column_calls
from ostinato.runtime.session.heap.string_sweep import StringSweep

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.int64()), ("s", pa.string())])
PATHS = """SELECT path FROM FILTER {DUR < 5} ((SELECT k, s, s AS path FROM t)
    FOLD {$2.k = $.k, length($.path) < 400, $.path || '/' || $2.s AS path} (SELECT k, s FROM t))"""


def rows(first: int, count: int, letters: int = 1) -> pa.Table:
    return pa.table({"ts": range(first, first + count), "k": [0] * count, "s": [f"{i}" * letters for i in range(first, first + count)]})


def query(text: str) -> ost.Query:
    return ost.compile(text, {"t": SCHEMA}, language="cel")


def test_what_is_made_is_bounded_and_right() -> None:
    session, found = query(PATHS).open(lateness=0), []
    session.graph.texts[0] = StringSweep(first=64)
    for first in range(0, 2000, 20):
        found += session.push(rows(first, 20)).column("path").to_pylist()
        assert len(session.graph.inputs[0].pool) < 400
        if first % 200 == 0:
            session = query(PATHS).open(snapshot=session.snapshot())
            session.graph.texts[0] = StringSweep(first=64)
    wanted = ["/".join(map(str, range(i, i + n))) for i in range(2000) for n in range(2, 6) if i + n <= 2000]
    assert sorted(found) == sorted(wanted)


def test_texts_that_grow_in_one_call_are_charged() -> None:
    session = query(PATHS.replace("FILTER {DUR < 5} ", "").replace("< 400", "> 0")).open(lateness=0, budget=ost.Budget(bytes=2_000_000))
    with pytest.raises(ost.BudgetError, match="texts, with those that steps have made in one call"):
        session.push(rows(0, 4000, letters=20))


def test_a_value_that_cannot_be_computed_is_an_error_where_it_is_needed() -> None:
    text = "SELECT n, s FROM (SELECT s, 0 AS n FROM t) FOLD {TRUE, TRUE, CAST($.s || $2.s AS BIGINT) AS n} (SELECT s FROM t)"
    given = pa.table({"ts": [1, 2, 3], "k": [0, 0, 0], "s": ["1", "2", "x"]}, schema=SCHEMA)
    session = query(text).open(lateness=0)
    assert session.push(given.slice(0, 2)).column("n").to_pylist() == [12]
    with pytest.raises(ost.DataError, match="x"):
        session.push(given.slice(2))
    unneeded = text.replace("SELECT n, s FROM (", "SELECT s FROM (")
    assert query(unneeded).open(lateness=0).push(given).num_rows == 3


def test_what_python_raises_is_raised_and_nothing_is_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    session = query(PATHS).open(lateness=0)

    def interrupted(self: object, given: object) -> tuple[int, int]:
        raise KeyboardInterrupt

    monkeypatch.setattr(column_calls.CalledColumns, "_computed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.push(rows(0, 5))


def test_a_failed_value_goes_on_as_one() -> None:
    """By the rules of columns: what does not look at it does not mind."""
    text = """SELECT path, s FROM (SELECT s, k, k AS n, s AS path FROM t) FOLD {$2.k > 0, TRUE, $.n * 4000000000 AS n,
        CASE WHEN $.n > 0 THEN upper($.path || $2.s) ELSE 'none' END AS path} (SELECT s, k FROM t)"""
    given = pa.table({"ts": [1, 2, 3], "k": [4, 4, 4], "s": ["a", "b", "c"]}, schema=SCHEMA)
    assert query(text).open(lateness=0).push(given).column("path").to_pylist()[0] == "AB"
    with pytest.raises(ost.DataError):
        query(text).open(lateness=0).push(pa.concat_tables([given, given.set_column(0, "ts", pa.array([4, 5, 6]))]))


def test_functions_over_columns_are_no_functions_of_values() -> None:
    ost.functions.register("yell", lambda s: s, takes=[pa.string()], returns=pa.string())
    try:
        with pytest.raises(ost.UnsupportedError, match=r"yell\(\) takes columns"):
            query("FROM t NEXT {yell($1.s || $2.s) = 'x'} (SELECT s, k AS j FROM t)")
    finally:
        ost.functions.unregister("yell")
