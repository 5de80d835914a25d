"""Which evaluation of a nested pattern is taken, by what is expected of each, against what each looks at when it is asked for."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.runtime.random_workloads import random_workload

import ostinato as ost
from ostinato.base.errors import OstinatoError
from ostinato.inspect.nested_plan import chosen_evaluations
from ostinato.plan.planner import TREE_EVALUATIONS

ROWS, FIRST = 2000, 600
MOST_VISITS, A_FEW = 400_000, 500
WORKLOADS = {
    "few nested matches": (
        "SEQ(A a, SEQ(B b, C c, D d), E e, F f) WITHIN 60",
        {"A": 0.2, "B": 0.2, "C": 0.2, "D": 0.003, "E": 0.2, "F": 0.02},
        "joins",
    ),
    "equal values": ("SEQ(A a, SEQ(B b, C c), D d, a.x = b.x AND b.x = d.x) WITHIN 200", dict.fromkeys("ABCD", 0.2), "joins"),
    "asked for again and again": (
        "SEQ(A a, SEQ(B b, C c, b.x > c.x AND b.y > c.y), D d, E e) WITHIN 100",
        {"A": 0.02, "B": 0.3, "C": 0.3, "D": 0.02, "E": 0.3},
        "semantic cache",
    ),
    "often there, and must not be": (
        "SEQ(A a, !SEQ(B b, C c, b.x > c.x AND b.y > 95), D d, E e) WITHIN 100",
        {"A": 0.1, "B": 0.2, "C": 0.2, "D": 0.1, "E": 0.3},
        "semantic cache",
    ),
    "never there": (
        "SEQ(A a, !SEQ(B b, C c, b.x > c.x AND b.x + c.x > 1000), D d, E e) WITHIN 100",
        {"A": 0.1, "B": 0.2, "C": 0.2, "D": 0.1, "E": 0.3},
        "object cache",
    ),
}


def table(rates: dict[str, float]) -> pa.Table:
    random = np.random.default_rng(1)
    kinds = random.choice([*rates, "Z"], ROWS, p=[*rates.values(), 1.0 - sum(rates.values())])
    return pa.table({"ts": np.arange(ROWS), "kind": kinds, "x": random.integers(0, 100, ROWS), "y": random.integers(0, 100, ROWS)})


def run(text: str, rows: pa.Table, strategy: str | None) -> tuple[list[dict[str, object]], int, ost.Session]:
    """What is found, and how many events are looked at behind the first rows, by which evaluations are chosen."""
    query = ost.compile(f"PATTERN {text}", {"events": rows.schema}, language="neel", type_by="kind", strategy=strategy)
    session = query.open()
    found = session.push(rows.slice(0, FIRST)).to_pylist()
    before = session.metrics()["visited_events"]
    found += session.push(rows.slice(FIRST)).to_pylist()
    return found + session.close().to_pylist(), session.metrics()["visited_events"] - before, session


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_one_that_looks_at_the_fewest_is_taken(name: str) -> None:
    text, rates, wanted = WORKLOADS[name]
    rows = table(rates)
    found, _, session = run(text, rows, None)
    asked = {strategy: run(text, rows, strategy) for strategy in TREE_EVALUATIONS}
    assert min(asked, key=lambda strategy: asked[strategy][1]) == wanted
    assert chosen_evaluations(session).startswith(f"{wanted} (expected per window: joins ")
    for strategy in TREE_EVALUATIONS:
        assert [{**row, "match_id": 0} for row in asked[strategy][0]] == [{**row, "match_id": 0} for row in found], strategy


def counted_visits(text: str, rows: pa.Table, strategy: str | None) -> int | None:
    """How many events and kept matches are looked at behind the first rows, none by `compact`; None: too many to go on."""
    query = ost.compile(text, {"events": rows.schema}, language="neel", type_by="kind", strategy=strategy, output="count")
    session = query.open(budget=ost.Budget(steps=MOST_VISITS))
    try:
        session.push(rows.slice(0, FIRST))
        before = session.metrics().get("visited_events", 0)
        session.push(rows.slice(FIRST))
    except OstinatoError as error:
        assert "looking for more takes too long" in str(error)
        return None
    return session.metrics().get("visited_events", 0) - before


@pytest.mark.parametrize("seed", range(10))
def test_choices_are_near_the_best(seed: int) -> None:
    """Over patterns and streams drawn by chance: what is chosen looks at no more than twice as much as the best would."""
    drawn = random_workload(seed, ROWS)
    asked = [counted_visits(drawn.text, drawn.rows, strategy) for strategy in TREE_EVALUATIONS]
    best = min((visits for visits in asked if visits is not None), default=None)
    chosen = counted_visits(drawn.text, drawn.rows, None)
    assert best is None or (chosen is not None and chosen <= 2 * best + A_FEW), (drawn.text, asked, chosen)


def test_what_would_keep_too_much_is_not_taken() -> None:
    text, rates, _ = WORKLOADS["asked for again and again"]
    rows = table(rates)
    query = ost.compile(f"PATTERN {text}", {"events": rows.schema}, language="neel", type_by="kind", output="count")
    session = query.open(budget=ost.Budget(bytes=1 << 16))
    session.push(rows.slice(0, FIRST))
    chosen = chosen_evaluations(session)
    assert chosen.startswith("joins (expected per window: joins ") and "semantic cache inf" in chosen


def test_what_is_asked_for_is_taken() -> None:
    text, rates, _ = WORKLOADS["never there"]
    assert chosen_evaluations(run(text, table(rates), "iterative")[2]) == "iterative (no rates are known, or it was asked for)\n"


def test_explained() -> None:
    text, rates, _ = WORKLOADS["often there, and must not be"]
    query = ost.compile(f"PATTERN {text}", {"events": table(rates).schema}, language="neel", type_by="kind")
    plan = query.explain()
    assert "  ├ !SEQ  where b.x > c.x, b.y > 95\n  │ ├ B b\n  │ └ C c\n  ├ D d\n" in plan
    assert "evaluation: joins until rates of events are known, then the one that is expected to look at the fewest\n" in plan
    assert "none of these behind a before d" in plan and "expected with 10 events of each variable per window: joins " in plan
