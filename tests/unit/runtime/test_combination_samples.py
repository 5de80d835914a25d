"""What combinations that are drawn by chance say about conditions; and what is held at each row for the search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.program.tree import TreePattern
from ostinato.runtime.session.session import Session
from ostinato.runtime.tree import evaluation_choice
from ostinato.runtime.tree.drawn_combinations import DRAWN, Sample, drawn_combinations
from ostinato.runtime.tree.event_rates import EventRates, event_rates
from ostinato.runtime.tree.expected_events import ExpectedEvents

ROWS = 4000


def rows(seed: int = 1) -> pa.Table:
    random = np.random.default_rng(seed)
    kinds = random.choice([*"ABCZ"], ROWS, p=[0.3, 0.3, 0.3, 0.1])
    numbers = {"x": random.integers(0, 1000, ROWS), "rising": np.arange(ROWS), "tool": np.arange(ROWS) // 20}
    return pa.table({"ts": np.arange(ROWS), "kind": kinds, **numbers})


def opened(text: str, **options: object) -> tuple[Session, TreePattern]:
    query = ost.compile(f"PATTERN {text}", {"events": rows().schema}, language="neel", type_by="kind", **options)
    assert isinstance(query.pattern, TreePattern)
    return query.open(), query.pattern


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ExpectedEvents]:
    """What a session measures in its first rows."""
    found: list[EventRates] = []

    def noted(*args: Any) -> EventRates:
        found.append(event_rates(*args))
        return found[-1]

    def of(text: str) -> ExpectedEvents:
        monkeypatch.setattr(evaluation_choice, "event_rates", noted)
        session, pattern = opened(text, output="count", strategy="joins")
        session.push(rows().slice(0, 2000))
        return ExpectedEvents(pattern, found[-1])

    return of


@pytest.mark.parametrize(
    ("conditions", "share"),
    [
        ("a.x < b.x, b.x < c.x", 1 / 6),  # of two of three orders each
        ("a.x < b.x, a.x > b.x", 0.0),
        ("a.rising < b.rising, b.rising < c.rising", 1.0),  # as events come in order
        ("a.tool = c.tool", 0.036),  # if they are near each other; of all pairs one in 100
    ],
)
def test_conditions_are_tried_together_on_events_in_order(measured: Any, conditions: str, share: float) -> None:
    expected = measured(f"SEQ(A a, B b, C c, {conditions}) WITHIN 100")
    found = expected.together(frozenset(range(len(expected.pattern.tests))))
    assert found == pytest.approx(share, abs=0.02 if share < 0.1 else 0.05)


def test_combinations_lie_in_a_window_and_in_order() -> None:
    _, pattern = opened("SEQ(A a, AND(B b, C c), A d) WITHIN 100")
    places = np.arange(1000)
    kinds = places % 3
    bits = {variable.bit: np.flatnonzero(kinds == "abc".find(name)) for name, variable in zip("abca", pattern.tree, strict=True)}
    sample = Sample(places, np.zeros(1000, np.int64), np.full(1000, 1000), bits, 100.0)
    drawn = drawn_combinations(pattern, pattern.branches[0], sample, np.random.default_rng(1))
    kept = drawn.in_order((0, 1, 2, 3))
    found = drawn.places((0, 1, 2, 3))
    assert np.count_nonzero(kept) > DRAWN / 2
    assert (found[kept, 0] < found[kept, 1:3].min(axis=1)).all() and (found[kept, 3] > found[kept, 1:3].max(axis=1)).all()
    assert (found[kept, 3] - found[kept, 0] <= 101).all()
    assert (found[kept, 1] < found[kept, 2]).any() and (found[kept, 1] > found[kept, 2]).any()


def test_rows_have_room_for_what_is_followed() -> None:
    """The latest washing, and one chain for all others, for no row is in two of them; numbers where events are counted."""
    text = "SEQ(A a, B b, !AND(C c, D d, c.x = d.x = o.x), O o, a.x = b.x) WITHIN 100"
    for output, strategy, wanted in (("all", "joins", (1, 1)), ("count", "joins", (1, 1))):
        session, _ = opened(text, output=output, strategy=strategy)
        session.push(rows().slice(0, 10))
        held = session.graph.operators[0].rows
        assert (held.mark("links").shape[1], held.mark("chains").shape[1]) == wanted
    session, pattern = opened("AND(A a, B b) WITHIN 100", output="count", strategy="joins")
    session.push(rows().slice(0, 10))
    assert session.graph.operators[0].rows.mark("links").shape[1] == 4
    assert replace(pattern, output="all").counts_events is False
