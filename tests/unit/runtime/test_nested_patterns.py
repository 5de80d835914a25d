"""Nested patterns on the engine: what random texts over one typed stream do not reach."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.errors import UnsupportedError
from ostinato.inspect.nested_plan import chosen_evaluations
from ostinato.plan.planner import TREE_EVALUATIONS
from ostinato.program.analysis.event_sequence import event_sequence
from ostinato.program.tree import TreePattern
from ostinato.query import Query
from ostinato.runtime.session import idle_keys

every_evaluation = pytest.mark.parametrize("strategy", TREE_EVALUATIONS)


def events(text: str) -> pa.Table:
    """`A1 B2/7` are type, time and x."""
    rows = []
    for number, event in enumerate(text.split()):
        kind_and_time, _, x = event.partition("/")
        rows.append({"x": int(x) if x else None, "id": number, "ts": int(kind_and_time[1:]), "kind": kind_and_time[0]})
    return pa.Table.from_pylist(rows, pa.schema([("x", pa.int64()), ("id", pa.int64()), ("ts", pa.int64()), ("kind", pa.string())]))


def compiled(text: str, table: pa.Table, strategy: str | None = None, **options: Any) -> Query:
    return ost.compile(text, {"events": table.schema}, language="neel", type_by="kind", strategy=strategy, **options)


@every_evaluation
def test_a_stream_of_one_type_needs_no_condition(strategy: str) -> None:
    query = ost.compile("PATTERN SEQ(A a) WITHIN 2", {"A": events("A1").schema}, language="neel", strategy=strategy)
    session = query.open()
    assert session.push(events("A1 A2")).num_rows + session.close().num_rows == 2


@pytest.mark.parametrize("text", ["PATTERN A a", "PATTERN SEQ(A a, !(B b, b.x = a.x), SEQ(A c), a.ts < c.ts) WITHIN 9"])
def test_an_event_that_is_compared_with_none_may_be_null(text: str) -> None:
    table = events("A1 A2/1")
    query = compiled(text, table)
    assert query.pattern.reads.keys == ()
    session = query.open()
    assert session.push(table).num_rows + session.close().num_rows > 0


@every_evaluation
def test_what_is_kept_follows_the_window(strategy: str) -> None:
    """Also a window of events, under which intervals have no first time."""
    for text in (
        "PATTERN SEQ(SEQ(A a, B b, a.x = b.x), C c, b.x = c.x) WITHIN 30 events",
        "PATTERN SEQ(A a, SEQ(B b, C d), !SEQ(B e, C f, e.x = f.x), C c, b.x = c.x) WITHIN 20",
    ):
        session = compiled(text, events("A1"), strategy, without=("equality_key",)).open()
        sizes = []
        for part in range(24):
            batch = events(" ".join(f"{'ABC'[n % 3]}{n}/{n // 6}" for n in range(part * 200, part * 200 + 200)))
            session.push(batch)
            metrics = session.metrics()
            sizes.append((metrics["kept_results"] + metrics["kept_intervals"], metrics["state_bytes"]))
        assert max(sizes[12:]) <= max(sizes[4:12]), (text, sizes)


@every_evaluation
def test_ever_new_keys_are_forgotten(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_keys, "FORGET_FROM", 64)
    text = "PATTERN SEQ(A a, AND(B b, C d, b.x = d.x), D c, a.x = b.x = c.x) WITHIN 20"
    session = compiled(text, events("A1"), strategy).open()
    found, sizes = 0, []
    for part in range(30):
        start = part * 400
        batch = events(" ".join(f"{'ABCD'[n % 4]}{n}/{n // 4}" for n in range(start, start + 400)))
        found += session.push(batch).num_rows
        sizes.append(session.metrics()["state_bytes"])
    found += session.close().num_rows
    assert found == 3000
    assert max(sizes[15:]) <= max(sizes[5:15]), sizes
    assert session.metrics()["keys"] < 400


PAIRS = "PATTERN SEQ(A a, B b, a.x = b.x) WITHIN 4 RETURN Pair(a.x AS x); "
STREAM = "A1/1 B2/1 C3/2 A4/2 B5/2 D6/1 B7/3 A8/3 C9/1 D10/2"


@pytest.mark.parametrize(
    ("text", "times"),
    [
        (PAIRS + "PATTERN AND(Pair p, Pair q, p.x < q.x) WITHIN 9", [(2, 5)]),
        (PAIRS + "PATTERN SEQ(Pair p, !(C c, c.x > p.x), AND(D d)) WITHIN 9", [(5, 6), (5, 10)]),
        (PAIRS + "PATTERN SEQ(Pair p, D d, !C c) WITHIN 4", [(2, 6)]),
    ],
)
def test_one_reads_what_another_returns(text: str, times: list[tuple[int, int]]) -> None:
    """In one batch, whose order says nothing about time until it ends, and row by row."""
    table = events(STREAM)
    whole = ost.match(text, language="neel", type_by="kind", events=table).to_arrow()
    session = compiled(text, table).open()
    parts = [session.push(table.slice(row, 1)) for row in range(table.num_rows)]
    pushed = pa.concat_tables([*parts, session.close()])
    for found in (whole, pushed):
        assert sorted(zip(found["start_ts"].to_pylist(), found["end_ts"].to_pylist(), strict=True)) == times


@every_evaluation
def test_every_stage_is_explained(strategy: str) -> None:
    text = "PATTERN SEQ(A a, SEQ(B b, C c), !AND(A e, C f, e.x = f.x), D d) WITHIN 5"
    query = compiled(text, events("A1"), strategy)
    assert query.explain("syntax").split() == text.split()
    assert "~(" in query.explain("algebra") and f"strategy {strategy}" in query.explain("program")
    plan = query.explain("plan")
    assert f"strategy: {strategy} (" in plan and "d completes the match" in plan
    assert ("from its matches that are kept" in plan) == strategy.endswith("cache")
    for format in ("text", "svg"):
        with pytest.raises(ost.UnsupportedError, match="not by an automaton"):
            query.explain("automaton", format)


@every_evaluation
@pytest.mark.parametrize(
    ("text", "stream", "ids"),
    [
        # an alternative that was not taken, or a member that was left out, says nothing to the events of a list
        ("SEQ(OR(A a, B b), C+ c[], c[i].x > a.x)", "B1/1 C2/2 A3/5 C4/4", [[[1]], [[1, 3]], [[3]]]),
        ("SEQ(A? a, C+ c[], c[i].x > a.x)", "A1/5 C2/2", [[[1]]]),
        # an empty list that is counted is there, one of an alternative that was not taken is not
        ("SEQ(OR(A a, SEQ(B* b[], D d)), C+ c[], c[i].x > b.LEN)", "A1 D2 C3/0", [[[2]]]),
        # lists that others speak of come first, also the one that ends the match
        ("AND(B+ b[], C+ c[], c[i].x = b.LEN)", "B1 C2/2 B3", [[[1]]]),
        ("SEQ(B+ b[], C+ c[], D+ d[], c[i].x = b.LEN)", "B1 B2 C3/2 D4", [[[3]]]),
        # what a negated list speaks of is known before it is looked for
        ("SEQ(A a, D d, !(C+ c[], c[i].x > a.x), B+ c2[])", "A1/1 D2 C3/2 B4", []),
        ("SEQ(A a, !SEQ(B x, !(C+ c[], c[i].x > a.x), B y), C+ c3[])", "A1/1 B2 C3/2 B4 C5", [[[2]], [[2, 4]], [[4]]]),
        # a list is not known by its last event
        ("SEQ(B+ b[], A a, !SEQ(C c, D d, c.x = b.LEN), A e, C+ c2[])", "B1 B2 A3 C4/2 D5 A6 C7", [[[6]], [[6]]]),
    ],
)  # fmt: skip
def test_conditions_on_the_events_of_a_list(strategy: str, text: str, stream: str, ids: list[list[list[int]]]) -> None:
    """Of the last list of each text."""
    table = events(stream)
    session = compiled(f"PATTERN {text} WITHIN 9", table, strategy).open(ordered=True)
    found = pa.concat_tables([session.push(table), session.close()])
    assert [[[event["id"] for event in events]] for events in found.column(found.column_names[-1]).to_pylist()] == ids


@every_evaluation
@pytest.mark.parametrize("budget", [ost.Budget(bytes=1 << 20), ost.Budget(steps=10)], ids=["bytes", "steps"])
def test_an_explosion_ends_in_a_budget(strategy: str, budget: ost.Budget) -> None:
    text = "PATTERN SEQ(A a, SEQ(A b, A c, A d), A e) WITHIN 200"
    session = compiled(text, events("A1"), strategy).open(budget=budget)
    with pytest.raises(ost.BudgetError):
        session.push(events(" ".join(f"A{n}" for n in range(200))))


def test_matches_that_wait_have_a_budget() -> None:
    session = compiled("PATTERN SEQ(A a, A b, !C c) WITHIN 200", events("A1")).open(budget=ost.Budget(runs=100))
    with pytest.raises(ost.BudgetError, match="matches wait"):
        session.push(events(" ".join(f"A{n}" for n in range(100))))


@pytest.mark.parametrize(
    ("pattern", "explodes"),
    [("OR(A a, B b)", False), ("OR(A a, AND(B b, C c))", True), ("SEQ(OR(A a, B b), C c)", True), ("SEQ(A a)", False), ("A+ a[]", True)],
)
def test_the_warning_is_about_matches_of_several_events(pattern: str, explodes: bool) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        compiled(f"PATTERN {pattern}", events("A1"))
    assert bool(warned) == explodes


@pytest.mark.parametrize(
    ("pattern", "strategy", "reason"),
    [
        ("SEQ(A a, OR(B b, C c))", "runs", "it has alternatives"),
        ("SEQ(A a, !B b, C c)", "runs", "something must not be there"),
        ("SEQ(A a, AND(B b, C c))", "runs", "some of its events come in any order"),
        ("SEQ(A a, B+ b[], b.LEN > 2)", "compact", "a condition looks at a finished list"),
        ("SEQ(A a, B b, a.x < b.x)", "compact", "some conditions look at other events of the match"),
        ("SEQ(A a, B? b, C c, b.x < c.x)", "runs", "a condition compares an event that may be left out"),
        ("SEQ(A a, B? b, b.LEN = 0)", "runs", "a condition compares an event that may be left out"),
        ("SEQ(B? b, C+ c[], c[i].x > b.x)", "runs", "a condition compares an event that may be left out"),
    ],
)
def test_what_is_no_sequence_of_events_is_not_handed_over(pattern: str, strategy: str, reason: str) -> None:
    text = f"PATTERN {pattern} WITHIN 9"
    with pytest.raises(UnsupportedError, match=reason):
        compiled(text, events("A1"), strategy, output="count")
    assert compiled(text, events("A1"), output="count").pattern.evaluation == "joins"


@pytest.mark.parametrize(
    ("pattern", "strategy", "reason"),
    [
        ("SEQ(A a, !B b, C c)", "compact", "something must not be there"),
        ("SEQ(A a, AND(B b, C c))", "compact", "some of its events come in any order"),
        ("SEQ(A a, B+ b[], b.LEN > 2)", "compact", "some conditions look at other events of the match"),
        ("SEQ(OR(A a, SEQ(B b, D d)), C c, d.x = c.x)", "compact", "some conditions look at other events of the match"),
        ("SEQ(A a, B b)", "runs", "it is a nested pattern"),
    ],
)
def test_what_is_not_listed_as_a_sequence(pattern: str, strategy: str, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        compiled(f"PATTERN {pattern} WITHIN 9", events("A1"), strategy)


def test_alternatives_that_depend_on_each_other_are_no_sequence() -> None:
    pattern = compiled("PATTERN SEQ(OR(A a, B b), A m, OR(C c, D d)) WITHIN 9", events("A1")).pattern
    assert isinstance(pattern, TreePattern) and not isinstance(event_sequence(pattern), str)
    first, *_, last = pattern.branches
    assert event_sequence(replace(pattern, branches=(first, last))) == "its alternatives depend on each other"


@pytest.mark.parametrize("output", ["all", "count"])
@pytest.mark.parametrize(("rate", "window", "evaluation"), [(40, 8, "joins"), (2, 40, "compact")])
def test_rates_decide_whether_a_sequence_is_followed_or_searched(rate: int, window: int, evaluation: str, output: str) -> None:
    """Where few events can stand before the last, there is little to search."""
    kinds = ["C" if n % rate == 0 else "AB"[n // 3 % 2] for n in range(1200)]
    table = events(" ".join(f"{kind}{n}" for n, kind in enumerate(kinds)))
    query = compiled(f"PATTERN SEQ(A a, SEQ(B b, C c)) WITHIN {window}", table, output=output)
    session = query.open()
    found = [session.push(table.slice(start, 300)) for start in range(0, 1200, 300)]
    found.append(session.close())
    assert chosen_evaluations(session).startswith(f"{evaluation} (expected per window: joins")
    asked = [
        ost.match(query.text, language="neel", type_by="kind", events=table, strategy=one, output=output) for one in ("joins", "compact")
    ]
    for one in asked:
        assert one.to_arrow().num_rows == sum(part.num_rows for part in found)
        assert output == "all" or one.to_arrow().to_pylist() == found[-1].to_pylist()


def test_rows_have_no_room_for_links_where_nothing_is_searched() -> None:
    table = events(" ".join(f"{'ABC'[n % 3]}{n}" for n in range(3000)))
    widths = {}
    for strategy in ("joins", None):
        session = compiled("PATTERN SEQ(A a, SEQ(B b, C c)) WITHIN 1000", table, strategy, output="count").open()
        for start in range(0, 3000, 500):
            session.push(table.slice(start, 500))
            widths[strategy] = session.graph.operators[0].rows.mark("links").shape[1]
    assert widths["joins"] > 0 and widths[None] == 0
