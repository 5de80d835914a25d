"""Counts start by start are those of the matches that negation leaves when all are listed: however rows are cut, and over snapshots."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato import reference
from ostinato.runtime.aggregation.start_counts import StartCounts

pytestmark = pytest.mark.filterwarnings("ignore::ostinato.ExplosionWarning")
SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("k", pa.string()), ("v", pa.int64()), ("s", pa.string())])
PATTERNS = {
    "first": "SEQ(A+ a[ ], ~(N n), C c) WHERE skip_till_any_match(a[ ], n, c) {{ {k} n.v > a[1].v }} {within}",
    "single first": "SEQ(A a, ~(N n), C+ c[ ]) WHERE skip_till_any_match(a, n, c[ ]) {{ {k} n.s = a.s and n.v > 2 }} {within}",
    "any row": "SEQ(A+ a[ ], ~(A n), C c) WHERE skip_till_any_match(a[ ], n, c) {{ {k} n.v > a[1].v + 1 }} {within}",
    "before": "SEQ(~(N n), A+ a[ ], C c) WHERE skip_till_any_match(n, a[ ], c) {{ {k} n.v > 1 }} {window}",
    "behind": "SEQ(A+ a[ ], C c, ~(N n)) WHERE skip_till_any_match(a[ ], c, n) {{ {k} n.v > 1 }} {window}",
    "behind, compared": "SEQ(A+ a[ ], ~(N n)) WHERE skip_till_any_match(a[ ], n) {{ {k} n.v > a[1].v }} {window}",
    "all of them": "SEQ(~(N n), A+ a[ ], ~(N m), A+ b[ ], ~(C d), C c, ~(N e)) "
    "WHERE skip_till_any_match(n, a[ ], m, b[ ], d, c, e) {{ {k} n.v > 3 and m.v > a[1].v and e.v >= 2 }} {window}",
}


def rows(chance: random.Random, count: int) -> pa.Table:
    times = sorted(chance.randrange(count) for _ in range(count))
    kinds = [chance.choice("AAACCN") for _ in range(count)]
    values = [chance.choice([None, 0, 1, 2, 3, 4]) for _ in range(count)]
    return pa.table(
        [times, kinds, [chance.choice("xyz") for _ in range(count)], values, [chance.choice(["p", "q", None]) for _ in range(count)]],
        schema=SCHEMA,
    )


def query(pattern: str, chance: random.Random, output: str, ties: str = "order") -> ost.Query:
    window = chance.choice(["WITHIN 7", "WITHIN 4", "WITHIN 9 events"])
    within = chance.choice(["", window])
    text = f"PATTERN {PATTERNS[pattern]} OUTPUT {output}".format(k=chance.choice(["", "[k] and "]), within=within, window=window)
    return ost.compile(text, {"e": SCHEMA}, type_by="kind", ties=ties)


def counted(wanted: ost.Query, table: pa.Table, chance: random.Random) -> int:
    session = wanted.open()
    assert isinstance(session.operator.matcher, StartCounts)
    at = 0
    while at < len(table):
        size = chance.choice([1, 2, 5, len(table)])
        session.push(table.slice(at, size))
        at += size
        if chance.random() < 0.3:
            session = wanted.open(snapshot=session.snapshot())
        if at < len(table) and chance.random() < 0.3:
            session.advance(table["ts"][at].as_py())
    return session.close().to_pylist()[0]["count"]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("seed", range(8))
def test_counts_are_those_of_the_listed_matches(pattern: str, seed: int) -> None:
    table = rows(random.Random(seed), 16)
    listed = query(pattern, random.Random(seed), "all").open()
    found = listed.push(table).num_rows
    assert counted(query(pattern, random.Random(seed), "count"), table, random.Random(seed)) == found + listed.close().num_rows


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("seed", range(3))
def test_by_epoch_matches_are_looked_at(pattern: str, seed: int) -> None:
    """Where simultaneous events do not follow one another: counts are those of the definition, whatever their order."""
    chance = random.Random(f"{pattern} {seed}")
    wanted = query(pattern, chance, "count", ties="epoch")
    table = rows(chance, 9)
    session = wanted.open(lateness=2)
    assert not isinstance(session.operator.matcher, StartCounts)
    for at in range(0, len(table), 2):
        session.push(table.slice(at, 2))
        session = wanted.open(lateness=2, snapshot=session.snapshot())
    assert session.close().to_pylist() == reference.output(wanted.algebra, table.to_pylist())


def test_more_than_could_be_looked_at() -> None:
    count = 3_000
    table = pa.table(
        [range(count), ["ANC"[n % 3] for n in range(count)], ["x"] * count, [n % 7 for n in range(count)], ["p"] * count], schema=SCHEMA
    )
    text = "PATTERN SEQ(A+ a[ ], ~(N n), C c) WHERE skip_till_any_match(a[ ], n, c) { n.v > a[1].v } WITHIN 120 OUTPUT count"
    at_once = ost.match(text, e=table, type_by="kind").to_arrow().to_pylist()[0]["count"]
    assert at_once > 10**12
    session = ost.compile(text, {"e": SCHEMA}, type_by="kind").open()
    for at in range(0, count, 100):
        session.push(table.slice(at, 100))
        assert session.metrics()["starts"] <= 41 and session.metrics()["retained_rows"] <= 121
    assert session.close().to_pylist() == [{"count": at_once}]


def test_starts_count_for_the_budget() -> None:
    text = "PATTERN SEQ(A+ a[ ], ~(N n), C c) WHERE skip_till_any_match(a[ ], n, c) { n.v > a[1].v } OUTPUT count"
    table = pa.table([range(100), ["A"] * 100, ["x"] * 100, range(100), ["p"] * 100], schema=SCHEMA)
    for budget in (ost.Budget(runs=50), ost.Budget(bytes=6_000)):
        with pytest.raises(ost.BudgetError, match="starts"):
            ost.compile(text, {"e": SCHEMA}, type_by="kind").open(budget=budget).push(table)
    shedding = ost.compile(text, {"e": SCHEMA}, type_by="kind").open(budget=ost.Budget(runs=50, overflow="shed oldest"))
    shedding.push(table)
    assert shedding.metrics()["starts"] <= 50 and shedding.metrics()["shed_starts"] >= 50


def test_a_row_that_too_many_starts_have_to_follow_is_too_much() -> None:
    """A call may take the more steps the more rows it brings: many at once are let through, single rows behind them are not."""
    text = "PATTERN SEQ(A+ a[ ], ~(N n), C c) WHERE skip_till_any_match(a[ ], n, c) { n.v > a[1].v } OUTPUT count"
    count = 4_300
    table = pa.table([range(count), ["A"] * count, ["x"] * count, range(count), ["p"] * count], schema=SCHEMA)
    session = ost.compile(text, {"e": SCHEMA}, type_by="kind").open(budget=ost.Budget(steps=1))
    session.push(table.slice(0, 4_100))
    with pytest.raises(ost.BudgetError, match=r"starts are followed, and it takes too long, and the budget is 50,001 steps for this call"):
        for at in range(4_100, count):
            session.push(table.slice(at, 1))
