"""Matching is divided among threads: by partition, and in time where one has most of the rows. Nothing that is found depends on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.kernels.intervals.interval_layout import NEVER
from ostinato.program.intervals import IntervalPattern
from ostinato.runtime.intervals import situation_store, work_division
from ostinato.runtime.intervals.key_stretches import KeyStretches
from ostinato.runtime.intervals.work_division import WorkDivision, cut_in_time
from ostinato.runtime.limits import steps

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.int64()), ("f", pa.bool_()), ("g", pa.bool_()), ("x", pa.int64())])
BY_KEY = "FROM t PARTITION BY k DEFINE A AS f, B AS g PATTERN A before;overlaps B WITHIN 60 RETURN sum(A.x) AS a, first(B.x) AS b"
ALONE = BY_KEY.replace("PARTITION BY k ", "")
COUNTERS = (
    "situations",
    "peak_situations",
    "situations_made",
    "purged_situations",
    "partnerless_situations",
    "visited_situations",
    "searches",
)
pytestmark = pytest.mark.filterwarnings("ignore::ostinato.lang.streams.explosion.ExplosionWarning")


@pytest.fixture(autouse=True)
def divides_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows are worth it."""
    for name, value in {"LEAST": 1, "WORTH": 1e-15, "COPYING": 0.0, "RATIO": 0.0}.items():
        monkeypatch.setattr(work_division, name, value)


def rows(count: int, keys: int, skew: float = 0.0, seed: int = 3) -> pa.Table:
    """Of the rows `skew` are of one key."""
    random = np.random.default_rng(seed)
    key = np.where(random.random(count) < skew, 0, random.integers(0, keys, count))
    held = [(np.cumsum(random.random(count) < 0.1) % 2).astype(bool) for _ in range(2)]
    return pa.table([np.arange(count) // 2, key, *held, random.integers(0, 9, count)], schema=SCHEMA)


def run(text: str, pieces: list[pa.Table], threads: int, **options: Any) -> tuple[list[dict[str, Any]], dict[str, int]]:
    session = ost.compile(text, {"t": SCHEMA}, language="tpstream").open(lateness=0, threads=threads, **options)
    found = [session.push(piece) for piece in pieces]
    found.append(session.close())
    return pa.concat_tables(found).to_pylist(), session.metrics()


@pytest.mark.parametrize(("text", "keys", "skew"), [(BY_KEY, 7, 0.0), (BY_KEY, 7, 0.8), (BY_KEY, 1, 0.0), (ALONE, 7, 0.0)])
def test_the_same_is_found_and_counted(text: str, keys: int, skew: float) -> None:
    table = rows(2_000, keys, skew)
    pieces = [table.slice(0, 900), table.slice(900, 10), table.slice(910)]
    wanted, counted = run(text, pieces, 1)
    assert len(wanted) > 500 and counted["matched_parts"] == 0
    for threads in (2, 3):
        found, again = run(text, pieces, threads)
        assert found == wanted
        assert {name: again[name] for name in COUNTERS} == {name: counted[name] for name in COUNTERS}
        assert again["matched_parts"] > 2


def test_parts_that_hold_many_results_go_on_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(situation_store, "AT_A_TIME", situation_store.FIRST_CAPACITY)
    for text in (BY_KEY, ALONE):
        pieces = [rows(6_000, 3)]
        assert run(text, pieces, 2)[0] == run(text, pieces, 1)[0]


def test_where_a_limit_may_be_met_one_thread_counts() -> None:
    found, raised, shed = (
        [tried([rows(2_000, 3)], threads, budget=budget) for threads in (1, 2)]
        for budget in (ost.Budget(runs=99), ost.Budget(runs=12), ost.Budget(runs=12, overflow="shed oldest"))
    )
    assert found[0] == found[1] and found[0][1] == 0
    assert raised[0] == raised[1] and "more than 12 situations" in raised[0]
    assert shed[0] == shed[1] and shed[0][1] > 0


def tried(pieces: list[pa.Table], threads: int, **options: Any) -> Any:
    try:
        found, counted = run(BY_KEY, pieces, threads, **options)
    except ost.BudgetError as error:
        return str(error)
    return found, counted["shed_situations"]


def test_too_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "PER_ROW", 0)
    for text in (BY_KEY, ALONE):
        with pytest.raises(ost.BudgetError, match="too long to combine them"):
            run(text, [rows(2_000, 3)], 2, budget=ost.Budget(steps=50))


def test_the_error_is_that_of_the_first_key() -> None:
    schema = pa.schema([("b", pa.int64()), ("e", pa.int64()), ("k", pa.int64())])
    text = "FROM j INTERVAL (b, e) PARTITION BY k DEFINE A, B FROM j INTERVAL (b, e) AS k >= 0 PATTERN A before B WITHIN 9"
    at = np.arange(400)
    for wrong in (120, 399):
        table = pa.table([np.where(at == wrong, at + 5, at - 1), at, at % 5], schema=schema)
        session = ost.compile(text, {"j": schema}, language="tpstream").open(lateness=0, threads=3)
        with pytest.raises(ost.DataError, match="no start, or one behind its end"):
            session.push(table)


def test_orders_learn_from_all_parts() -> None:
    text = "FROM t PARTITION BY k DEFINE A AS f, B AS g, C AS x = 0 PATTERN A before C AND B before C AND A before;after B WITHIN 200"
    pieces = [rows(20_000, 2).slice(at, 2_000) for at in range(0, 20_000, 2_000)]
    (wanted, counted), (found, again) = run(text, pieces, 1), run(text, pieces, 2)
    assert found == wanted and again["matched_parts"] > 2
    assert again["visited_situations"] <= 1.2 * counted["visited_situations"]
    assert (again["order_changes"] > 0) == (counted["order_changes"] > 0)


def test_rows_are_split_anywhere() -> None:
    given = KeyStretches(np.array([4, 2, 7, 9]), np.array([0, 10, 0, 20]), np.array([5, 16, 0, 24]), np.full(4, 50))
    for count in range(given.rows + 1):
        head, tail = given.split(count)
        assert head.rows == count and head.rows + tail.rows == given.rows
        assert 7 in tail.keys and (head.complete[:-1] == 50).all() and (tail.complete == 50).all()
        cut = set(head.keys) & set(tail.keys)
        assert len(cut) <= 1 and all(head.complete[head.keys == key] == NEVER for key in cut)
    pieces = list(given.chosen(slice(1, 2)).pieces((1, 3, 2)))
    assert [piece.rows for piece in pieces] == [1, 3, 2] and [piece.complete[0] for piece in pieces] == [NEVER, NEVER, 50]


def test_pieces_are_as_long_as_what_is_derived_before_them_allows() -> None:
    assert cut_in_time(1_000, 2, 0.0) == (500, 500)
    assert cut_in_time(1_000, 2, 0.5) == (666, 334)
    assert [round(length / 875) for length in cut_in_time(1_000 * 7 // 4 * 8, 3, 0.5)] == [9, 5, 2]
    for rows in (1, 2, 3, 10):
        lengths = cut_in_time(rows, 3, 0.99)
        assert sum(lengths) == rows and min(lengths) >= 1 and len(lengths) == min(3, rows)


def test_the_largest_stands_alone_and_the_others_are_dealt_out() -> None:
    pattern = ost.compile(BY_KEY, {"t": SCHEMA}, language="tpstream").pattern
    assert isinstance(pattern, IntervalPattern)
    division = WorkDivision(pattern)
    lengths = np.array([1, 90, 2, 3, 4, 5, 6, 7])
    given = KeyStretches(np.arange(8), np.zeros(8, np.int64), lengths, np.zeros(8, np.int64))
    assert division.shares(given, 0, 2) == []  # nothing is known yet
    division.took({"rows": 100, "made": 0, "visited": 10**9, "searches": 0, "results": 0})
    shares = division.shares(given, 0, 2)
    assert shares[0].places.tolist() == [1] and len(shares[0].lengths) == 2
    assert sorted(place for share in shares for place in share.places.tolist()) == list(range(8))
    assert max(int(lengths[share.places].sum()) for share in shares[1:]) <= 8
