"""Backtracking: budgets, growth, keys, saved state, errors. What it matches is tested in tests/property."""

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.errors import BudgetError, DataError, UnsupportedError
from ostinato.runtime.limits.budget import Budget, Overflow

SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("k", pa.int64()), ("x", pa.int64())])
ANY = "PATTERN SEQ(A+ a[ ], B b) WHERE skip_till_any_match(a[ ], b) { %s } %s"
NEXT = "PATTERN SEQ(A+ a[ ], B b) WHERE skip_till_next_match(a[ ], b) { %s } %s"


def session(text, conditions="true", rest="RETURN b.x", budget=None, output=None, snapshot=None):
    query = ost.compile(text % (conditions, rest), {"events": SCHEMA}, type_by="kind", strategy="backtrack", output=output)
    assert query.pattern.evaluation == "backtrack"
    return query.open(budget=budget, snapshot=snapshot)


def events(kinds, keys=None, xs=None, first=0):
    count = len(kinds)
    return pa.table(
        {"ts": range(first, first + count), "kind": list(kinds), "k": keys or [0] * count, "x": xs or list(range(count))}, schema=SCHEMA
    )


def test_arrays_grow_with_the_runs_and_the_matches():
    running = session(ANY)
    assert len(running.push(events("A" * 9))) == 0
    assert running.metrics()["runs"] == 2**9 - 1
    assert len(running.push(events("B", first=9))) == 2**9 - 1
    deep = session(ANY, "a[i].x > a[i-1].x")
    assert len(deep.push(events("A" * 12 + "B"))) == 2**12 - 1


def test_matches_come_in_order():
    running = session(ANY, rest="")
    found = [(row["end_ts"], [*(e["ts"] for e in row["a"]), row["end_ts"]]) for row in running.push(events("AABAB")).to_pylist()]
    assert found == sorted(found) and len(found) == 3 + 7


def test_counting_keeps_no_rows_and_no_nodes():
    running = session(ANY, output="count")
    running.push(events("AAAAAB"))
    assert running.metrics()["match_nodes"] == 0 and running.metrics()["retained_rows"] == 0
    assert running.close().to_pylist() == [{"count": 31}]


def test_rows_read_are_counted():
    running = session(NEXT, "[k]", "WITHIN 4 events RETURN b.x")
    running.push(events("ACABCCCC", [1] * 8))  # a start at 0 reads 4 rows, one at 2 reads 4, of them rows 2 and 3 again
    running.push(events("ACC", [2] * 3, first=8))
    assert running.metrics()["rows_read"] == 4 + 4 + 3
    assert running.metrics()["rows_read_again"] == 2
    running.push(events("CCC", [2] * 3, first=11))  # the last row of the window
    assert running.metrics()["rows_read"] == 4 + 4 + 3 + 1
    assert running.metrics()["rows_read_again"] == 2


def test_rows_read_do_not_depend_on_the_size_of_arrays():
    read = []
    for output in ("all", "count"):
        running = session(NEXT, "a[i].x > a[i-1].x", "WITHIN 300", output=output)
        running.push(events("AAAAB" * 200))
        read.append((running.metrics()["rows_read"], running.metrics()["rows_read_again"]))
    assert read[0] == read[1] and read[0][1] > 1000


def test_nothing_waits_behind_a_match_where_matches_do_not_overlap():
    running = session(NEXT, output="nonoverlapping")
    assert running.push(events("AAAB" * 50))["x"].to_pylist() == list(range(3, 200, 4))
    assert running.metrics()["runs"] == 0


def test_memory_stays_as_it_is_over_a_long_stream():
    running = session(NEXT, "[k]", "WITHIN 20 RETURN b.x")
    generator = np.random.default_rng(5)
    sizes = []
    for first in range(0, 20_000, 1000):
        kinds = generator.choice(["A", "B", "C"], 1000)
        running.push(events(kinds, generator.integers(0, 4, 1000).tolist(), first=first))
        sizes.append(running.metrics()["state_bytes"])
    assert max(sizes[10:]) <= 2 * max(sizes[:10])


def test_the_state_goes_on_elsewhere():
    running = session(NEXT, "[k] and a[i].x > a[i-1].x", "WITHIN 100 RETURN a.LEN AS n, b.x")
    running.push(events("AAA", [1, 2, 1], [1, 5, 3]))
    again = session(NEXT, "[k] and a[i].x > a[i-1].x", "WITHIN 100 RETURN a.LEN AS n, b.x", snapshot=running.snapshot())
    assert again.metrics()["runs"] == running.metrics()["runs"] == 3
    found = again.push(events("ABB", [1, 2, 1], [2, 0, 7], first=3)).to_pylist()
    assert found == [{"n": 1, "x": 0}, {"n": 2, "x": 7}, {"n": 1, "x": 7}, {"n": 1, "x": 7}]


def test_keys_that_hold_nothing_are_forgotten(monkeypatch):
    monkeypatch.setattr("ostinato.runtime.session.idle_keys.FORGET_FROM", 8)
    running = session(NEXT, "[k]", "WITHIN 3 RETURN b.x")
    for key in range(40):
        assert running.push(events("AB", [key, key - 1], first=2 * key))["x"].to_pylist() == [1] * (key > 0)
    assert running.metrics()["keys"] < 40


def test_a_budget_of_runs_is_an_error_or_sheds_the_oldest():
    with pytest.raises(BudgetError) as caught:
        session(ANY, budget=Budget(runs=100)).push(events("A" * 20))
    assert "100" in caught.value.message and caught.value.hint
    running = session(NEXT, "[k]", budget=Budget(runs=16, overflow=Overflow.SHED_OLDEST))
    for key in range(40):
        running.push(events("A", [key], first=key))
    metrics = running.metrics()
    assert metrics["runs"] <= 16 and metrics["shed_runs"] == 40 - metrics["runs"]
    assert len(running.push(events("B", [39], first=40))) == 1
    assert len(running.push(events("B", [0], first=41))) == 0


def test_a_budget_of_bytes():
    with pytest.raises(BudgetError):
        session(ANY, budget=Budget(bytes=2000)).push(events("A" * 8))
    running = session(NEXT, "[k]", budget=Budget(bytes=2000, overflow=Overflow.SHED_OLDEST))
    running.push(events("A" * 64, list(range(64))))
    assert running.metrics()["state_bytes"] <= 2000 and running.metrics()["shed_runs"] > 0


def test_an_overflow_that_matters_is_an_error():
    running = session(NEXT, "sum(a[].x) > b.x")
    with pytest.raises(DataError) as caught:
        running.push(events("AAB", xs=[2**62, 2**62, 0]))
    assert caught.value.hint


def test_one_match_per_start_has_no_meaning_under_skip_till_any():
    with pytest.raises(UnsupportedError):
        session(ANY, output="first")
