"""Instances wait, are used up at the end of an epoch, let go and shed; what they carry survives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.runtime.instances import instance_store
from ostinato.runtime.limits import steps
from ostinato.runtime.session.heap.string_sweep import StringSweep

SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("k", pa.int64()), ("v", pa.int64()), ("s", pa.string())])


def rows(*listed: tuple[Any, ...]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=False)) for row in listed], SCHEMA)


def query(text: str, **options: Any) -> ost.Query:
    return ost.compile(text, {"t": SCHEMA}, language="cel", **options)


NEXT = "SELECT v AS a, w AS b FROM FILTER {kind = 'A'} (t) NEXT {$2.w > $1.v} (SELECT v AS w FROM FILTER {kind = 'B'} (t))"


def test_an_instance_is_used_up_at_the_end_of_the_epoch() -> None:
    session = query(NEXT).open(lateness=0)
    assert session.push(rows((1, "A", 0, 1))).num_rows == 0
    first = session.push(rows((2, "B", 0, 5)))
    session = query(NEXT).open(snapshot=session.snapshot())  # in the midst of the epoch
    same_epoch = session.push(rows((2, "B", 0, 6), (2, "B", 0, 0)))
    later = session.push(rows((3, "B", 0, 7)))
    assert [table.to_pylist() for table in (first, same_epoch, later)] == [
        [{"a": 1, "b": 5, "start_ts": 1, "end_ts": 2}],
        [{"a": 1, "b": 6, "start_ts": 1, "end_ts": 2}],
        [],
    ]
    assert session.metrics()["instances"] == 0


def test_no_event_follows_one_of_its_own_time() -> None:
    session = query(NEXT).open(lateness=0)
    assert session.push(rows((1, "A", 0, 1), (1, "B", 0, 5))).num_rows == 0
    assert session.push(rows((2, "B", 0, 5))).num_rows == 1


@pytest.mark.parametrize("without", [(), ("search",)])
def test_one_row_may_meet_more_instances_than_there_is_room_for(without: tuple[str, ...]) -> None:
    """The table grows while the kernel is on its way through a list, and results are taken in between."""
    text = """SELECT v_1 AS a, v AS b, n FROM (SELECT v, 0 AS n FROM FILTER {kind = 'A'} (t))
        FOLD {$2.v > $.v, TRUE, $.n + 1 AS n} (SELECT v FROM FILTER {kind = 'B'} (t))"""
    count = 3 * instance_store.AT_A_TIME // 2
    columns = {"ts": np.arange(count), "kind": ["A"] * count, "k": np.arange(count), "v": np.arange(count), "s": ["x"] * count}
    session = query(text, without=without).open(lateness=0)
    session.push(pa.table(columns, schema=SCHEMA))
    first = session.push(rows((count, "B", 0, count)))
    second = session.push(rows((count + 1, "B", 0, count + 1)))
    assert first.num_rows == second.num_rows == count
    assert sorted(first.column("a").to_pylist()) == sorted(second.column("a").to_pylist()) == list(range(count))
    assert set(first.column("n").to_pylist()) == {1} and set(second.column("n").to_pylist()) == {2}
    assert session.metrics()["instances"] == 2 * count  # those of the last epoch are let go with the next


def test_what_is_older_than_the_filter_allows_is_let_go() -> None:
    text = "SELECT v, w FROM FILTER {DUR < 100} (FILTER {kind = 'A'} (t) NEXT {$2.x = $1.k AND $2.w > $1.v} (SELECT k AS x, v AS w FROM t))"
    for without in ((), ("equality_key",), ("equality_key", "search")):
        session = query(text, without=without).open(lateness=0)
        for step in range(40):
            at = step * 1000
            session.push(rows(*((at + i, "A", at + i, 0) for i in range(0, 1000, 2))))
        assert session.metrics()["instances"] <= 2_500, without
        assert session.metrics()["state_bytes"] < 1 << 20


def test_time_that_passes_lets_go_of_them() -> None:
    text = "SELECT v, w FROM FILTER {DUR < 100} (FILTER {kind = 'A'} (t) NEXT {$2.x = $1.k AND $2.w > $1.v} (SELECT k AS x, v AS w FROM t))"
    session = query(text).open(lateness=None)
    session.push(rows(*((i, "A", i, 0) for i in range(50))))
    session.advance(60)
    assert session.metrics()["instances"] == 50
    session.advance(130)
    assert session.metrics()["instances"] == 19 and session.metrics()["expired_instances"] == 31
    session.advance(1000)
    assert session.metrics()["instances"] == session.metrics()["state_bytes"] == 0


def test_without_such_a_filter_the_budget_limits_them() -> None:
    told = query("FROM (SELECT v FROM t) NEXT {$2.w > $1.v} (SELECT v AS w FROM t)")
    session = told.open(lateness=0, budget=ost.Budget(runs=1000))
    with pytest.raises(ost.BudgetError, match="more than 1000 instances wait for events") as caught:
        session.push(rows(*((i, "A", 0, 5) for i in range(2000))))
    assert "FILTER {DUR < ...}" in str(caught.value.hint)
    session = told.open(lateness=0, budget=ost.Budget(bytes=100_000))
    with pytest.raises(ost.BudgetError, match="instances take"):
        session.push(rows(*((i, "A", 0, 5) for i in range(4000))))


def test_the_oldest_are_shed() -> None:
    budget = ost.Budget(runs=100, overflow="shed oldest")
    session = query("FROM (SELECT v FROM t) NEXT {$2.w > $1.v} (SELECT v AS w FROM t)").open(lateness=0, budget=budget)
    session.push(rows(*((i, "A", 0, 1000 - i) for i in range(500))))
    assert session.metrics()["shed_instances"] >= 390
    found = session.push(rows((500, "A", 0, 2000)))
    assert 90 <= found.num_rows <= 101
    assert min(found.column("start_ts").to_pylist()) >= 395


def test_too_many_offers_are_too_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "PER_ROW", 10)
    told = query("FROM (SELECT v FROM t) NEXT {$2.w != $1.v} (SELECT v AS w FROM t)")
    session = told.open(lateness=0, budget=ost.Budget(steps=1))
    with pytest.raises(ost.BudgetError, match="steps"):
        session.push(rows(*((i, "A", 0, 5) for i in range(1000))))


def test_strings_that_instances_carry_survive_a_sweep() -> None:
    text = "SELECT a, s FROM (SELECT s AS a, s AS b FROM FILTER {kind = 'A'} (t)) NEXT {$2.s = $1.b} FILTER {kind = 'B'} (t)"
    for without in (("equality_key",), ("equality_key", "search")):  # keys are texts, too, and forgotten by another rule
        session = query(text, without=without).open(lateness=0)
        session.graph.texts[0] = StringSweep(first=64)
        session.push(rows((0, "A", 0, 0, "first"), (0, "A", 0, 0, "second")))
        for step in range(1, 50):
            session.push(rows(*((step, "C", 0, 0, f"text {step} {i}") for i in range(50))))
        assert len(session.graph.inputs[0].pool) < 500
        found = session.push(rows((50, "B", 0, 0, "second"), (51, "B", 0, 0, "first")))
        assert found.column("a").to_pylist() == ["second", "first"]


def test_results_come_in_the_order_of_detection_whatever_their_keys() -> None:
    text = "SELECT k, v FROM (SELECT k AS key FROM FILTER {kind = 'A'} (t)) NEXT {$2.k = $1.key} FILTER {kind = 'B'} (t)"
    session = query(text).open(lateness=0)
    assert session.graph.inputs[0].reads.key_names == ("k",)
    listed = [(i, "A", i % 7, i) for i in range(70)] + [(100 + i, "B", (3 * i) % 7, i) for i in range(7)]
    assert session.push(rows(*listed)).column("end_ts").to_pylist() == sorted(100 + i for i in range(7) for _ in range(10))


def test_a_start_behind_the_end_is_an_error() -> None:
    schema = pa.schema([("start_ts", pa.int64()), ("end_ts", pa.int64()), ("v", pa.int64())])
    told = ost.compile("FROM (SELECT v AS a FROM e) NEXT e", {"e": schema}, language="cel")
    for start in (5, None):
        with pytest.raises(ost.DataError, match="no start, or one behind its end"):
            told.open(lateness=0).push(pa.table({"start_ts": [start], "end_ts": [3], "v": [1]}, schema=schema))
    with pytest.raises(ost.DataError, match="too far back"):
        told.open(lateness=0).push(pa.table({"start_ts": [-(2**62)], "end_ts": [3], "v": [1]}, schema=schema))


def test_a_sum_that_leaves_64_bits_is_an_error_where_it_is_shown() -> None:
    text = (
        "SELECT total FROM (SELECT v, v AS total FROM FILTER {kind = 'A'} (t)) FOLD {TRUE, TRUE, $.total + $2.v AS total} (SELECT v FROM t)"
    )
    session = query(text).open(lateness=0)
    session.push(rows((0, "A", 0, 2**62)))
    with pytest.raises(ost.DataError, match="beyond 64 bits"):
        session.push(rows((1, "B", 0, 2**62)))


@pytest.mark.parametrize("compared", ["$2.v > $1.total", "$2.v < $1.total"])
@pytest.mark.parametrize("without", [(), ("search",)])
def test_a_double_that_could_not_be_computed_is_an_error_where_it_is_compared(compared: str, without: tuple[str, ...]) -> None:
    """Whatever the value of the row is, and whether such rows are looked for or not."""
    text = (
        "FROM (SELECT total FROM (SELECT v, 9223372036854775807 AS most, 0.5 AS total FROM FILTER {kind = 'A'} (t))"
        f" FOLD {{TRUE, TRUE, CAST($.most + 1 AS DOUBLE) AS total}} (SELECT v FROM t)) NEXT {{{compared}}} (SELECT v * 1.0 AS v FROM t)"
    )
    session = query(text, without=without).open(lateness=0)
    session.push(rows((0, "A", 0, -1), (1, "B", 0, -2)))
    with pytest.raises(ost.DataError, match="beyond 64 bits"):
        session.push(rows((2, "C", 0, -3)))
