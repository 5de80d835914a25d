"""The run table spares work: events meet only runs that they can affect, and equivalent runs are followed as one."""

import math
import random

import pyarrow as pa
import pytest

import ostinato as ost

INTEGERS = ("ts", "k", "x")
SCHEMA = pa.schema([*((name, pa.int64()) for name in INTEGERS), ("kind", pa.string()), ("w", pa.float64()), ("s", pa.string())])


def session(text, budget=None, snapshot=None, **options):
    return ost.compile(text, {"events": SCHEMA}, type_by="kind", strategy="runs", **options).open(budget=budget, snapshot=snapshot)


def rows(*events):
    """(kind, x) or (kind, values) with times 0, 1, ..."""
    made = [{"ts": i, "kind": kind, **(values if isinstance(values, dict) else {"x": values})} for i, (kind, values) in enumerate(events)]
    return pa.Table.from_pylist(made, SCHEMA)


def metrics_after(text, events, **options):
    opened = session(text, **options)
    found = opened.push(rows(*events))
    return found, opened.metrics()


PAIR = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { %s } WITHIN 1000 RETURN a.ts AS first, b.ts AS last"


def test_an_event_meets_the_runs_that_wait_for_its_value():
    opened = [("A", i) for i in range(100)]
    found, counted = metrics_after(PAIR % "b.x = a.x", [*opened, ("B", 7), ("C", 8), ("B", 200)], without=("merging",))
    assert found.to_pylist() == [{"first": 7, "last": 100}]
    assert counted["runs"] == 100 and counted["visited_runs"] <= 5  # values may share a cell


def test_an_event_meets_the_states_that_it_offers_a_move():
    text = "PATTERN SEQ(A a, B b, C c) WHERE skip_till_any_match(a, b, c) { c.x > a.x and b.x > a.x } WITHIN 1000"
    events = [("A", i) for i in range(50)] + [("B", 10)] + [("C", 0)]
    _, counted = metrics_after(text, events, without=("merging", "search"))
    assert counted["visited_runs"] == 50 + 10


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ("b.x > a.x + 96", 3),
        ("a.x < b.x - 96", 3),
        ("b.x <= a.x", 1),
        ("b.x >= a.x - 1 and b.x < a.x + 2", 1 + 1),
        ("b.x * 2 = a.x + a.k", 1),
        ("b.x - a.x > 96", 3),
        ("a.x - b.x > -3", 3),
        ("abs(b.x - a.x - 50) < 2", 3),
        ("b.x - a.x > 9000000000000000000", 100),  # too large to be calculated with
        ("b.w > a.x", 0),  # null is above nothing
    ],
)
def test_an_event_meets_the_runs_whose_threshold_it_passes(condition, met):
    events = [("A", {"x": i, "k": 101}) for i in range(100)] + [("B", {"x": 99})]
    found, counted = metrics_after(PAIR % condition, events, without=("merging",))
    assert len(found) == counted["matches"]
    assert counted["visited_runs"] == met
    alone, counted = metrics_after(PAIR % condition, events, without=("merging", "search"))
    assert alone == found and counted["visited_runs"] == 100


def test_runs_wait_in_order_under_a_new_bound_after_each_event():
    text = """PATTERN SEQ(A a, B+ b[], C c) WHERE skip_till_next_match(a, b[], c) { b[1].x > a.x and b[i].x > b[i-1].x }
        WITHIN 1000 RETURN a.ts AS first, b.LEN AS n"""
    rng = random.Random(5)
    events = [(rng.choice("ABBBC"), rng.randrange(50)) for _ in range(400)]
    found, searched = metrics_after(text, events, without=("merging",))
    alone, visited = metrics_after(text, events, without=("merging", "search"))
    assert found == alone and searched["visited_runs"] < visited["visited_runs"]


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_both_zeros_are_one_join_value_and_nan_is_none(zero):
    events = [("A", {"w": 0.0}), ("A", {"w": -0.0}), ("A", {"w": math.nan}), ("A", {"w": None})]
    found, _ = metrics_after(PAIR % "b.w = a.w", [*events, ("B", {"w": zero}), ("B", {"w": math.nan}), ("B", {"w": None})])
    assert found.to_pylist() == [{"first": 0, "last": 4}, {"first": 1, "last": 4}]


def test_two_moves_may_look_for_two_values_and_meet_a_run_once():
    text = """PATTERN SEQ(A a, E+ b[], E c) WHERE skip_till_any_match(a, b[], c)
        { b[1].x = a.x and b[i].x = b[i-1].k and c.ts - c.k = b[b.LEN].k } WITHIN 99 RETURN a.ts AS first, b.LEN AS n, c.ts AS last"""
    events = [("A", {"x": 1, "k": 0}), ("E", {"x": 1, "k": 1}), ("E", {"x": 1, "k": 1})]
    found, counted = metrics_after(text, events)
    assert {"first": 0, "n": 1, "last": 2} in found.to_pylist()
    assert counted["visited_runs"] <= 3


def test_text_that_joins_survives_a_snapshot():
    opened = session(PAIR % "b.s = a.s")
    opened.push(rows(("A", {"s": "pear"}), ("A", {"s": "fig"})))
    again = session(PAIR % "b.s = a.s", snapshot=opened.snapshot())
    later = rows(("B", {"s": "new"}), ("B", {"s": "fig"})).set_column(0, "ts", [[2, 3]])
    assert again.push(later).to_pylist() == [{"first": 1, "last": 3}]


KLEENE = "PATTERN SEQ(A+ a[], B b) WHERE skip_till_any_match(a[], b) { true } WITHIN %s RETURN a[1].ts AS first, a.LEN AS n, b.ts AS last"


def test_runs_without_registers_are_one_and_all_matches_come_out():
    found, counted = metrics_after(KLEENE % 100, [("A", 0)] * 10 + [("B", 0)])
    assert found.num_rows == 2**10 - 1
    assert counted["peak_runs"] == 1 and counted["merged_runs"] > 0
    alone, counted = metrics_after(KLEENE % 100, [("A", 0)] * 10 + [("B", 0)], without=("merging",))
    assert found.equals(alone)
    assert counted["peak_runs"] == 2**10 - 1 and counted["merged_runs"] == 0


def test_a_merged_run_lives_as_long_as_its_youngest_start_and_older_ones_are_not_reported():
    opened = session(KLEENE % 3)
    found = opened.push(rows(("A", 0), ("A", 0), ("A", 0), ("A", 0), ("B", 0), ("C", 0), ("B", 0), ("B", 0)))
    wanted = session(KLEENE % 3, without=("merging",)).push(
        rows(("A", 0), ("A", 0), ("A", 0), ("A", 0), ("B", 0), ("C", 0), ("B", 0), ("B", 0))
    )
    assert found.equals(wanted)
    assert {row["first"] for row in found.to_pylist() if row["last"] == 4} == {1, 2, 3}
    assert {row["first"] for row in found.to_pylist() if row["last"] == 6} == {3}
    assert opened.metrics()["runs"] == 0


def test_rows_and_nodes_of_starts_that_are_over_are_given_back():
    opened = session(KLEENE % 20)
    for step in range(200):
        batch = rows(*[("A" if i % 10 == 0 else "C", 0) for i in range(100)])
        opened.push(batch.set_column(0, "ts", pa.array([100 * step + i for i in range(100)])))
    counted = opened.metrics()
    assert counted["runs"] == 1
    assert counted["retained_rows"] <= 21
    assert counted["match_nodes"] < 1000


def test_registers_that_no_later_state_reads_need_not_agree():
    text = "PATTERN SEQ(A a, B b, C c) WHERE skip_till_any_match(a, b, c) { b.x > a.x and c.x > b.x } WITHIN 1000"
    events = [("A", 1), ("A", 2), ("A", 3), ("B", 5), ("C", 9)]
    found, counted = metrics_after(text, events)
    assert found.num_rows == 3
    assert counted["merged_runs"] == 2  # three ways to b, of which c asks only b.x


def test_a_count_in_a_window_merges_runs_of_one_start():
    text = "PATTERN SEQ(A a, B+ b[], C c) WHERE skip_till_any_match(a, b[], c) { c.x > a.x } WITHIN 1000 OUTPUT count"
    opened = session(text)
    opened.push(rows(("A", 1), *[("B", 0)] * 20, ("C", 5)))
    assert opened.metrics()["peak_runs"] == 2
    assert opened.close().to_pylist() == [{"count": 2**20 - 1}]


def test_budgets_hold_with_merging_and_join_values():
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { b.x = a.x } WITHIN 100000 RETURN a.x AS x"
    many = [("A", i) for i in range(200)]
    with pytest.raises(ost.BudgetError):
        metrics_after(text, many, budget=ost.Budget(runs=50))
    shed = ost.Budget(runs=50, overflow=ost.Overflow.SHED_OLDEST)
    found, counted = metrics_after(text, [*many, ("B", 3), ("B", 199)], budget=shed)
    assert found.to_pylist() == [{"x": 199}]  # the oldest are gone
    assert counted["runs"] <= 50 and counted["shed_runs"] == 200 - counted["runs"]
    shed = ost.Budget(bytes=5_000, overflow=ost.Overflow.SHED_OLDEST)
    found, counted = metrics_after(text, many, budget=shed)
    assert 0 < counted["state_bytes"] <= 5_000 and counted["shed_runs"] > 0


def test_more_matches_than_can_be_read_are_an_error():
    with pytest.raises(ost.BudgetError) as caught:
        metrics_after(KLEENE % 100, [("A", 0)] * 40 + [("B", 0)])
    assert "OUTPUT count" in caught.value.hint


@pytest.mark.parametrize("size", [400, 30, 1])
def test_however_the_input_is_cut_merging_changes_nothing(size):
    generator = random.Random(5)
    table = rows(*[(generator.choice("AB"), generator.randrange(3)) for _ in range(400)])
    text = PAIR.replace("1000", "40") % "b.x >= a.x"
    merged, alone = session(text), session(text, without=("merging",))
    pieces = [(merged.push(table.slice(at, size)), alone.push(table.slice(at, size))) for at in range(0, 400, size)]
    assert all(one.equals(other) for one, other in pieces)
    assert merged.metrics()["merged_runs"] > 100


def test_a_snapshot_does_not_carry_the_peak():
    opened = session(PAIR % "b.x = a.x")
    opened.push(rows(*[("A", i) for i in range(900)]))
    peak = len(opened.snapshot())
    later = rows(("A", 5)).set_column(0, "ts", [[5000]])
    opened.push(later)
    blob = opened.snapshot()
    assert opened.metrics()["runs"] == 1 and len(blob) < peak / 5
    again = session(PAIR % "b.x = a.x", snapshot=blob)
    assert again.push(rows(("B", 5)).set_column(0, "ts", [[5001]])).to_pylist() == [{"first": 5000, "last": 5001}]


def test_keys_are_forgotten_while_runs_wait_by_value(monkeypatch):
    monkeypatch.setattr("ostinato.runtime.session.idle_keys.FORGET_FROM", 4)
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { [k] and b.x = a.x } WITHIN 30 RETURN a.ts AS first, b.ts AS last"
    forgetful, plain = session(text), session(text)
    plain.graph._idle_keys[0]._at = 10**9
    generator = random.Random(3)
    found = 0
    for step in range(60):
        events = [(generator.choice("AB"), {"k": 2 * step + generator.randrange(3), "x": generator.randrange(2)}) for _ in range(10)]
        batch = rows(*events).set_column(0, "ts", pa.array(range(10 * step, 10 * step + 10)))
        wanted = plain.push(batch)
        assert forgetful.push(batch).to_pylist() == wanted.to_pylist()
        found += wanted.num_rows
    assert found > 50
    assert forgetful.key_count < plain.key_count


def test_keys_are_forgotten_although_conditions_look_at_the_row_before(monkeypatch):
    monkeypatch.setattr("ostinato.runtime.session.idle_keys.FORGET_FROM", 4)
    text = """PATTERN SEQ(Events a, Events+ b[]) WHERE partition_contiguity(a, b[]) { [k] and b[i].x > b[i-1].x } WITHIN 30
        RETURN a.ts AS first, b.LEN AS n"""
    query = ost.compile(text, {"events": SCHEMA}, strategy="runs")
    assert query.pattern.look_back == 1
    forgetful, plain = query.open(), query.open()
    plain.graph._idle_keys[0]._at = 10**9
    generator = random.Random(4)
    for step in range(60):
        events = [("A", {"k": 3 * (step // 2) + generator.randrange(3), "x": generator.randrange(9)}) for _ in range(10)]
        batch = rows(*events).set_column(0, "ts", pa.array(range(10 * step, 10 * step + 10)))
        assert forgetful.push(batch).to_pylist() == plain.push(batch).to_pylist()
    assert forgetful.key_count < 40 < plain.key_count
    assert forgetful.metrics()["retained_rows"] < plain.metrics()["retained_rows"]
