"""Negation in a session: what is decided when, what is kept, and what the counters say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.errors import BudgetError
from ostinato.runtime.limits.budget import Budget, Overflow
from ostinato.runtime.negation import negated_pairs

SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("k", pa.string()), ("v", pa.int64())])
TRAILING = "PATTERN SEQ(A a, ~(X x)) WHERE skip_till_next_match(a, x) { [k] } WITHIN 10 RETURN a.ts AS t"
LEADING = "PATTERN SEQ(~(X x), A a) WHERE skip_till_next_match(x, a) { [k] } WITHIN 10 RETURN a.ts AS t"
COMPARED = "PATTERN SEQ(A a, ~(X x), B b) WHERE skip_till_any_match(a, x, b) { x.v = a.v and x.v < b.v } WITHIN 1000 OUTPUT count"


def table(*rows):
    return pa.table([pa.array(c, f.type) for c, f in zip(zip(*rows, strict=True), SCHEMA, strict=True)], schema=SCHEMA)


def opened(text, **options):
    return ost.compile(text, {"e": SCHEMA}, type_by="kind").open(**options)


def times(output):
    return output.column("t").to_pylist()


def test_a_match_waits_until_its_window_is_over():
    session = opened(TRAILING)
    assert times(session.push(table((1, "A", "s", 0)))) == []
    assert session.metrics()["waiting_matches"] == 1
    assert times(session.advance(11)) == []  # a row at 11 may still come
    assert times(session.advance(12)) == [1]
    assert session.metrics()["waiting_matches"] == session.metrics()["retained_rows"] == 0


def test_rows_of_the_partition_decide_as_well_as_time():
    session = opened(TRAILING, lateness=None)
    session.push(table((1, "A", "s", 0), (11, "X", "s", 0), (20, "A", "s", 0), (31, "B", "s", 0)))
    assert times(session.advance(21)) == []
    assert session.metrics()["killed_matches"] == 1
    assert times(session.advance(32)) == [20]


@pytest.mark.parametrize("condition", ["", " and x.v >= a.v"])
def test_under_epochs_rows_of_the_time_of_the_last_event_may_still_come(condition):
    """They are not behind it. A later row is."""
    query = ost.compile(TRAILING.replace("[k]", "[k]" + condition), {"e": SCHEMA}, type_by="kind", ties="epoch")
    session = query.open()
    session.push(table((1, "X", "s", 0), (1, "A", "s", 0), (1, "A", "r", 0)))
    session.push(table((1, "X", "s", 0), (1, "X", "r", 0)))
    session = query.open(snapshot=session.snapshot())
    session.push(table((1, "X", "s", 0)))
    session.push(table((2, "X", "r", 0)))
    assert times(session.advance(12)) == [1]
    assert session.metrics()["killed_matches"] == 1 and session.metrics()["retained_rows"] == 0


@pytest.mark.parametrize("text", ["SEQ(A+ a[ ], ~(X x), B b) WHERE skip_till_any_match(a[ ], x, b) { [k] }", "SEQ(A a, ~(X x), B b)"])
def test_under_epochs_matches_are_filtered(text):
    query = ost.compile(f"PATTERN {text} WITHIN 10", {"e": SCHEMA}, type_by="kind", ties="epoch")
    assert "side by side, for simultaneous events may not follow one another" in query.explain()
    assert "~(x): known by the rows alone: one look per match" in query.explain()
    with pytest.raises(ost.UnsupportedError, match="simultaneous events may not follow one another"):
        ost.compile(f"PATTERN {text} WITHIN 10", {"e": SCHEMA}, type_by="kind", ties="epoch", strategy="compact")


def test_a_window_of_events_is_over_when_they_are_there():
    session = opened(TRAILING.replace("WITHIN 10", "WITHIN 3 events"))
    assert times(session.push(table((1, "A", "s", 0), (2, "B", "s", 0), (3, "B", "t", 0)))) == []
    assert times(session.push(table((3, "B", "s", 0)))) == [1]
    assert times(session.push(table((4, "A", "s", 0), (5, "B", "s", 0)))) == []
    assert times(session.advance(1000)) == []
    assert times(session.close()) == [4]


def test_matches_that_wait_survive_a_snapshot():
    query = ost.compile(TRAILING, {"e": SCHEMA}, type_by="kind")
    first = query.open()
    first.push(table((1, "A", "s", 0), (2, "A", "t", 0)))
    second = query.open(snapshot=first.snapshot())
    assert second.metrics()["waiting_matches"] == 2
    second.push(table((3, "X", "t", 0)))
    assert times(second.close()) == [1]
    assert second.metrics()["killed_matches"] == 1


def test_rows_before_a_match_are_kept_as_long_as_the_window_reaches():
    session = opened(LEADING)
    session.push(table(*((t, "X", f"s{t % 7}", 0) for t in range(100))))
    session.advance(100)
    assert session.metrics()["retained_rows"] == 10  # 90 to 99
    assert times(session.push(table((100, "A", "s0", 0), (110, "A", "s0", 0)))) == [110]
    session.advance(1000)
    assert session.metrics()["retained_rows"] == 0


def test_keys_that_hold_nothing_are_forgotten(monkeypatch):
    monkeypatch.setattr("ostinato.runtime.session.idle_keys.FORGET_FROM", 8)
    session = opened(TRAILING)
    found = []
    for t in range(400):
        found += times(session.push(table((t, "A", f"s{t}", 0))))
    found += times(session.close())
    assert sorted(found) == list(range(400))
    assert session.metrics()["keys"] < 100


def test_more_waiting_matches_than_the_budget_allows():
    rows = table(*((t, "A", "s", 0) for t in range(9)))
    with pytest.raises(BudgetError, match="9 matches wait"):
        opened(TRAILING, budget=Budget(runs=4)).push(rows)
    session = opened(TRAILING, budget=Budget(runs=4, overflow=Overflow.SHED_OLDEST))
    session.push(rows)
    assert session.metrics()["shed_matches"] == 5
    assert times(session.close()) == [5, 6, 7, 8]


@pytest.mark.parametrize("pairs", [5, 1 << 16])
def test_pairs_are_evaluated_in_bounded_portions(monkeypatch, pairs):
    """The same with few at a time, against a plain count."""
    monkeypatch.setattr(negated_pairs, "PAIRS", pairs)
    rng = np.random.default_rng(5)
    kinds, values = rng.choice(list("ABXX"), 120).tolist(), [None if v == 5 else int(v) for v in rng.integers(0, 6, 120)]
    rows = [(t, kind, "s", v) for t, (kind, v) in enumerate(zip(kinds, values, strict=True))]
    session = opened(COMPARED)
    session.push(table(*rows))
    expected = 0
    for i, (_, first, _, v) in enumerate(rows):
        for j in range(i + 1, len(rows)):
            last, w = rows[j][1], rows[j][3]
            negated = any(kind == "X" and x is not None and x == v and w is not None and x < w for _, kind, _, x in rows[i + 1 : j])
            expected += first == "A" and last == "B" and not negated
    assert session.close().to_pylist() == [{"count": expected}]
    assert 0 < session.metrics()["killed_matches"] == session.metrics()["candidate_matches"] - expected
