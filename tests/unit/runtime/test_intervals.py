"""Situations are kept, let go and shed; moments wait for rows of their time; what situations carry survives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.runtime.intervals import situation_store
from ostinato.runtime.limits import steps

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.int64()), ("f", pa.bool_()), ("g", pa.bool_()), ("s", pa.string())])
pytestmark = pytest.mark.filterwarnings("ignore::ostinato.lang.streams.explosion.ExplosionWarning")


def rows(*listed: tuple[Any, ...]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=False)) for row in listed], SCHEMA)


def query(text: str, **options: Any) -> ost.Query:
    return ost.compile(text, {"t": SCHEMA}, language="tpstream", **options)


def times(table: pa.Table) -> list[tuple[Any, ...]]:
    return [(row["start_ts"], row["end_ts"], row["detected_ts"]) for row in table.to_pylist()]


PAIR = "FROM t PARTITION BY k DEFINE A AS f, B AS g PATTERN A before B"


def test_a_moment_waits_for_rows_of_its_time() -> None:
    told = query("FROM t DEFINE A AS f PATTERN A")
    session = told.open(lateness=0)
    assert session.push(rows((1, 0, True))).num_rows == 0
    session = told.open(snapshot=session.snapshot())
    assert session.push(rows((1, 0, False))).num_rows == 0  # what ends when it starts has not been
    assert session.push(rows((2, 0, True))).num_rows == 0
    assert times(session.push(rows((3, 0, True)))) == [(2, None, 2)]
    assert session.close().num_rows == 0


def test_the_watermark_decides_where_no_rows_come() -> None:
    session = query(f"{PAIR} WITHIN 9").open(lateness=0)
    session.push(rows((1, 0, True, False), (2, 0, False, False), (3, 0, False, True)))
    assert times(session.push(rows((4, 1, False, False)))) == [(1, None, 3)]


def test_time_lets_go_of_what_has_ended() -> None:
    session = query(f"{PAIR} WITHIN 9").open(lateness=None)
    session.push(rows(*((2 * i, 0, i % 2 == 0, False) for i in range(100))))
    session.advance(200)
    assert 0 < session.metrics()["situations"] <= 3
    session.advance(1000)
    assert session.metrics()["situations"] == session.metrics()["state_bytes"] == 0
    assert session.metrics()["purged_situations"] == session.metrics()["situations_made"] == 50


def test_more_results_than_there_is_room_for() -> None:
    count = 3 * situation_store.AT_A_TIME // 2
    at = np.arange(2 * count)
    table = pa.table([at, np.zeros_like(at), at % 2 == 0, np.zeros(2 * count, bool), pa.nulls(2 * count, pa.string())], schema=SCHEMA)
    session = query(f"{PAIR} RETURN first(A.ts) AS a").open(lateness=0)
    session.push(table)
    found = session.push(rows((2 * count + 1, 0, False, True), (2 * count + 2, 0, False, True)))
    assert found.column("a").to_pylist() == list(range(0, 2 * count, 2))


def test_the_budget_limits_situations() -> None:
    many = rows(*((i, 0, i % 2 == 0, False) for i in range(4000)))
    with pytest.raises(ost.BudgetError, match="more than 100 situations are kept"):
        query(PAIR).open(lateness=0, budget=ost.Budget(runs=100)).push(many)
    with pytest.raises(ost.BudgetError, match="situations take"):
        query(PAIR).open(lateness=0, budget=ost.Budget(bytes=10_000)).push(many)


def test_the_oldest_are_shed_and_what_is_open_stays() -> None:
    session = query(f"{PAIR} RETURN first(A.ts) AS a", latency="final").open(
        lateness=0, budget=ost.Budget(runs=100, overflow="shed oldest")
    )
    session.push(rows((0, 1, False, True), *((i, 0, i % 2 == 0, False) for i in range(1, 1000))))
    assert session.metrics()["shed_situations"] >= 390
    found = session.push(rows((1001, 0, False, True), (1002, 0, False, False), (1003, 0, False, False)))
    assert 80 <= found.num_rows <= 101 and min(found.column("a").to_pylist()) > 790
    with pytest.raises(ost.BudgetError, match="more than 5 situations are kept"):
        query(PAIR).open(lateness=0, budget=ost.Budget(runs=5, overflow="shed oldest")).push(rows(*((i, i, True, True) for i in range(9))))


def test_too_many_combinations_are_too_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "PER_ROW", 1)
    session = query("FROM t DEFINE A AS f, B AS NOT f PATTERN A before;meets B").open(lateness=0, budget=ost.Budget(steps=1))
    with pytest.raises(ost.BudgetError, match="steps"):
        session.push(rows(*((i, 0, i % 2 == 0, False) for i in range(1000))))


def test_strings_that_situations_carry() -> None:
    told = query("FROM t PARTITION BY k DEFINE A AS f, B AS g PATTERN A before B RETURN first(A.s) AS a, max(A.s) AS m, last(B.s) AS b")
    session = told.open(lateness=0)
    session.push(rows((1, 0, True, False, "x"), (2, 0, True, False, "a"), (3, 0, False, False, "z")))
    session = told.open(snapshot=session.snapshot())
    found = pa.concat_tables([session.push(rows((4, 0, False, True, "n"), (5, 0, False, True, "o"))), session.close()])
    assert found.to_pylist() == [{"a": "x", "m": "x", "b": "n", "start_ts": 1, "end_ts": None, "detected_ts": 4}]


def test_rows_that_are_kept_hold_nothing_that_was_not_asked_for() -> None:
    """PREV keeps the last row of a partition, and what situations carry is computed for rows in one alone."""
    table = rows(*((n, n % 3, n % 4 == 0, False, f"text {n}") for n in range(1000)))
    told = query("FROM t PARTITION BY k DEFINE A AS f AND NOT PREV(f) PATTERN A RETURN max(A.s || '!') AS m")
    session = told.open(lateness=0)
    parts = [session.push(table.slice(0, 500))]
    operator = session.operator
    kept = operator.rows.shared.retained()[1]
    outside = kept[operator.rows.bits[kept] == 0]
    assert len(outside) and not operator.rows.slot_valid[outside].any() and not operator.rows.slots[outside].any()
    session = told.open(snapshot=session.snapshot())
    parts += [session.push(table.slice(500)), session.close()]
    assert sum(part.num_rows for part in parts) == 249  # the first has no row before it


def test_given_situations_of_the_same_times_come_in_the_order_of_their_rows() -> None:
    table = pa.table({"b": [1, 1, 1, 2], "e": [3, 3, 3, 3], "n": [0, 1, 2, 3]})
    text = "FROM j INTERVAL (b, e) DEFINE A AS n < 3, B AS n > 0 PATTERN A equals;started by;overlaps;finished by B "
    told = ost.compile(text + "RETURN first(A.n) AS a, first(B.n) AS b", {"j": table.schema}, language="tpstream")
    session = told.open(lateness=0)
    found = pa.concat_tables([session.push(table), session.close()]).to_pylist()
    wanted = [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2), (0, 3), (1, 3), (2, 3)]
    assert [(row["a"], row["b"]) for row in found] == wanted


@pytest.mark.parametrize("latency", ["earliest", "final"])
def test_the_longest_situation_there_can_be(latency: str) -> None:
    """From -2^62 to 2^62 it was lost: so long a time does not fit 64 bits. Those times are refused."""
    farthest = 2**62 - 1
    whole = [(-farthest, 1, True, False), (farthest, 1, False, True)]
    told = query("FROM t DEFINE A AS f AT LEAST 4611686018427387903 PATTERN A", latency=latency)
    assert times(told.open(lateness=None).push(rows(*whole))) == []
    session = told.open(lateness=None)
    assert times(pa.concat_tables([session.push(rows(*whole)), session.close()])) == [(-farthest, farthest, farthest)]
    for time in (-farthest - 1, farthest + 1):
        with pytest.raises(ost.DataError, match="beyond what can be calculated with"):
            told.open(lateness=None).push(rows((time, 1, True, False), (0, 1, False, False)))


def test_given_situations_need_a_start_before_their_end() -> None:
    schema = pa.schema([("b", pa.int64()), ("e", pa.int64())])
    told = ost.compile("FROM j INTERVAL (b, e) DEFINE A PATTERN A", {"j": schema}, language="tpstream")
    session = told.open(lateness=0)
    assert times(pa.concat_tables([session.push(pa.table({"b": [1, 2], "e": [2, 2]})), session.push(pa.table({"b": [0], "e": [3]}))])) == [
        (1, 2, 2)
    ]
    for start in (None, 9):
        with pytest.raises(ost.DataError, match="no start, or one behind its end"):
            told.open(lateness=0).push(pa.table({"b": pa.array([start], pa.int64()), "e": [4]}))
    with pytest.raises(ost.DataError, match="too far back"):
        told.open(lateness=0).push(pa.table({"b": [-(2**62)], "e": [4]}))


def test_results_of_a_moment_are_in_order_where_they_come_in_parts() -> None:
    at = range(14)
    table = pa.table({"ts": at, "a": [n in (1, 3, 5) for n in at], "b": [n in (2, 4, 6) for n in at], "c": [n == 9 for n in at]})
    text = """FROM t DEFINE A AS a, B AS b, C AS c PATTERN A before;meets;overlaps;starts C AND B before C
        RETURN first(A.ts) AS a, first(B.ts) AS b"""
    lazy = ost.match(text, language="tpstream", latency="final", lazy=True, t=table)
    found = [(row["a"], row["b"]) for batch in lazy.batches() for row in batch.to_pylist()]
    assert found == [(1, 2), (1, 4), (1, 6), (3, 2), (3, 4), (3, 6), (5, 2), (5, 4), (5, 6)]
