"""The strategy compact: window edges, budgets, memory over endless streams, many symbols and keys."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest
from tests.property.columnar_programs import Columnar, ColumnarSimulation, Drive, Event

import ostinato as ost
from ostinato.algebra.pattern import Alternation, Repetition, Sequence, Variable
from ostinato.base.errors import BudgetError
from ostinato.runtime.limits.budget import Budget, Overflow
from ostinato.runtime.matches import match_list

A, B, C = 0, 1, 2  # bits


def several(name: str) -> Repetition:
    return Repetition(Variable(name), 1, None)


# Alternatives whose partial matches start at different times meet in one element: there the order by start is easily lost, and with it
# matches near the edge of the window.
MEETING = Sequence(
    (
        Alternation((Sequence((Variable("a"), Variable("b"))), Sequence((several("c"), Variable("d"))))),
        Alternation((several("e"), several("f"))),
    )
)
MEETING_TESTS = ((A, A), (A, A), (C, C), (B, B), (B, B), (A, A))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("output", ["all", "nonoverlapping"])
@pytest.mark.parametrize(("within", "unit"), [(7, "events"), (6, "time")])
def test_no_match_is_lost_at_the_edge_of_the_window(seed: int, output: str, within: int, unit: str) -> None:
    random = Random(seed)
    times = sorted(random.randrange(24) for _ in range(20))
    events = [Event(0, time, 1 << random.choice((A, A, B, B, C))) for time in times]
    query = Columnar(MEETING, MEETING_TESTS, "skip_till_any_match", output, within, unit)
    wanted = ColumnarSimulation(query, events).matches()
    assert Drive(query, events).run([5, 11]) == wanted
    counted = Columnar(MEETING, MEETING_TESTS, "skip_till_any_match", "count", within, unit)
    drive = Drive(counted, events, reload=True)
    drive.run([5, 11])
    if output == "all":
        assert drive.matcher.metrics()["matches"] == len(wanted) > 10


def session(text: str, budget: Budget | None = None, **options: object) -> ost.Session:
    schema = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("k", pa.int64())])
    query = ost.compile(text, {"events": schema}, type_by="kind", **options)
    assert query.pattern.evaluation == "compact"
    return query.open(budget=budget)


def batch(first: int, count: int, kinds: str = "AB", keys: int = 1) -> pa.Table:
    random = np.random.default_rng(first)
    chosen = np.array(list(kinds))[random.integers(0, len(kinds), count)]
    return pa.table({"ts": np.arange(first, first + count), "kind": chosen, "k": random.integers(0, keys, count)})


WAITING = "PATTERN SEQ(A a, B b, C c) WHERE skip_till_any_match(a, b, c) {{ [k] }} WITHIN {} OUTPUT {}"


@pytest.mark.parametrize("output", ["all", "count", "nonoverlapping"])
def test_an_endless_stream_needs_bounded_memory(output: str) -> None:
    running = session(WAITING.format(500, output))
    sizes, rows = [], []
    for first in range(0, 60_000, 2_000):
        running.push(batch(first, 2_000, keys=3))
        sizes.append(running.metrics()["state_bytes"])
        rows.append(running.metrics()["retained_rows"])
    assert max(sizes[5:]) <= 2 * max(sizes[:5])
    assert max(rows) <= 2_000


@pytest.mark.parametrize("output", ["all", "count"])
def test_beyond_the_budget_it_stops(output: str) -> None:
    running = session(WAITING.format(100_000, output), Budget(bytes=20_000))
    with pytest.raises(BudgetError, match=r"budget is 19\.5 KiB"):
        for first in range(0, 20_000, 1_000):
            running.push(batch(first, 1_000))


@pytest.mark.parametrize("output", ["all", "count"])
def test_beyond_the_budget_the_oldest_starts_are_shed(output: str) -> None:
    running = session(WAITING.format(100_000, output), Budget(bytes=60_000, overflow=Overflow.SHED_OLDEST))
    for first in range(0, 20_000, 1_000):
        running.push(batch(first, 1_000))
        assert running.metrics()["state_bytes"] <= 60_000
    assert running.metrics()["shed_starts"] > 0
    end = pa.table({"ts": [20_000], "kind": ["C"], "k": [0]}, schema=batch(0, 1).schema)
    if output == "count":
        running.push(end)
        return
    with pytest.raises(BudgetError, match="listing 240,182 matches"):  # which cannot be shed
        running.push(end)


@pytest.mark.parametrize("output", ["all", "count"])
def test_more_types_than_bits_of_a_direct_table(output: str) -> None:
    letters = "ABCDEFGHIJKLMNOPQRST"
    elements = ", ".join(f"{letter} v{letter}" for letter in letters)
    text = f"PATTERN SEQ({elements}) WITHIN 1000 OUTPUT {output}"
    running = session(text)
    for round in range(3):
        rows = pa.table({"ts": np.arange(20) + 20 * round, "kind": list(letters), "k": np.zeros(20, np.int64)})
        found = running.push(rows)
        assert len(found) == (1 if output == "all" else 0)
    running.close()
    assert running.metrics()["matches"] == 3


def test_a_number_of_matches_beyond_64_bits_is_an_error() -> None:
    running = session("PATTERN SEQ(A+ a[ ], B b) WHERE skip_till_any_match(a[ ], b) OUTPUT count")
    with pytest.raises(BudgetError, match="the count does not fit 64 bits"):
        running.push(pa.table({"ts": np.arange(80), "kind": ["A"] * 79 + ["B"], "k": np.zeros(80, np.int64)}))


def test_plans_say_why() -> None:
    schema = {"t": pa.schema([("ts", pa.int64()), ("x", pa.int64())])}
    alone = ost.compile("PATTERN SEQ(T a, T b) WHERE a.x > 1", schema)
    assert "strategy: compact (skip_till_next_match: every condition looks at one event alone)" in alone.explain("plan")
    other = ost.compile("PATTERN SEQ(T a, T b) WHERE a.x > b.x", schema)
    assert "side by side, for some conditions look at other events of the match" in other.explain("plan")
    with pytest.raises(ost.UnsupportedError) as caught:
        ost.compile("PATTERN SEQ(T a, T b) WHERE a.x > b.x", schema, strategy="compact")
    assert "some conditions look at other events of the match" in caught.value.message


def test_the_list_of_chosen_matches_grows_with_the_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes them piece by piece: were it lengthened with every piece, its length and its cost would follow their square."""
    lengths = []
    grown = match_list._grown
    monkeypatch.setattr(match_list, "_grown", lambda array, more: lengths.append(len(array) + more) or grown(array, more))
    pieces, piece = 300, np.tile([2, 0, 0], (50, 1))
    listed = match_list.MatchList(10, np.zeros(2, np.uint8), None)
    for first in range(0, 100 * pieces, 100):
        listed.add_chosen(piece, np.stack([np.arange(first, first + 100), np.tile([1, 0], 50)], axis=1))
    assert len(listed.take()) == 50 * pieces
    assert max(lengths) <= 2 * (100 * pieces) + 1 and len(lengths) < 30


@pytest.mark.parametrize(
    ("pattern", "variables"),
    [("B a, C b", "a, b"), ("B a, ~(A x), C b", "a, x, b"), ("~(A x), B a, C b", "x, a, b"), ("~(SEQ(A x, A y)), B a, C b", "x, y, a, b")],
)
@pytest.mark.parametrize("strategy", ["skip_till_any_match", "skip_till_next_match", "partition_contiguity"])
def test_windows_of_events_are_saved_at_their_edge_and_go_on(pattern: str, variables: str, strategy: str) -> None:
    schema = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("k", pa.int64())])
    text = f"PATTERN SEQ({pattern}) WHERE {strategy}({variables}) {{ [k] }} WITHIN 3 events RETURN a.ts AS a, b.ts AS b"
    query = ost.compile(text, {"t": schema}, type_by="kind")
    random = Random(3)
    rows = [{"ts": i, "kind": random.choice("ABBC"), "k": random.randrange(2)} for i in range(40)]
    session, found = query.open(), []
    for row in rows:
        found += session.push(pa.Table.from_pylist([row], schema=schema)).to_pylist()
        session = query.open(snapshot=session.snapshot())
    found += session.close().to_pylist()
    assert found == ost.match(text, t=pa.Table.from_pylist(rows, schema=schema), type_by="kind").to_arrow().to_pylist() != []
