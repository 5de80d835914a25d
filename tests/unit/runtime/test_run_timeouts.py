"""OUTPUT timeouts of SASE+: the runs that were no match yet when their window ended."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ostinato as ost

EVENTS = pa.table({"ts": [0, 1, 2, 3, 10, 11, 20], "kind": ["A", "B", "A", "C", "A", "B", "A"], "v": [1, 2, 3, 4, 5, 6, 7]})


def names(rows: list[dict[str, Any]]) -> list[str]:
    """`a0 b1`: the variables with the times of their events."""
    found = []
    for row in rows:
        bound = [(event["ts"], name) for name in ("a", "b", "c") for event in listed(row.get(name))]
        found.append(" ".join(f"{name}{time}" for time, name in sorted(bound)))
    return sorted(found)


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def find(text: str, events: pa.Table = EVENTS, **options: Any) -> list[str]:
    return names(ost.match(text, events=events, type_by="kind", **options).to_arrow().to_pylist())


def test_what_the_window_ends() -> None:
    """a0 b1 c3 is a match. a2 waits for a B that comes too late. At 20 the end of the input ends the window."""
    text = "PATTERN SEQ(A a, B b, C c) WITHIN 5"
    assert find(text) == ["a0 b1 c3"]
    assert find(text + " OUTPUT timeouts") == find(text, output="timeouts") == ["a10 b11", "a2", "a20"]


def test_rows_of_timeouts() -> None:
    found = ost.match("PATTERN SEQ(A a, B+ b[ ], C c) WITHIN 5 OUTPUT timeouts", events=EVENTS, type_by="kind").to_arrow().to_pylist()
    (row,) = [row for row in found if row["start_ts"] == 10 and row["end_ts"] == 11]
    assert row["a"]["v"] == 5 and [event["v"] for event in row["b"]] == [6] and row["c"] is None
    (alone,) = [row for row in found if row["start_ts"] == 20]
    assert alone["end_ts"] == 20 and alone["b"] == [] and alone["c"] is None
    text = "PATTERN SEQ(A a, B+ b[ ], C c) WITHIN 5 RETURN a.v AS a, b.LEN AS n, sum(b[].v) AS s, c.v AS c OUTPUT timeouts"
    returned = ost.match(text, events=EVENTS, type_by="kind").to_arrow().to_pylist()
    assert {"a": 5, "n": 1, "s": 6, "c": None} in returned and {"a": 7, "n": 0, "s": None, "c": None} in returned


def test_what_is_a_match_is_no_timeout() -> None:
    """Every prefix of b is a match; only what has no B at all is none."""
    assert find("PATTERN SEQ(A a, B+ b[ ]) WITHIN 5 OUTPUT timeouts") == ["a2", "a20"]
    assert find("PATTERN SEQ(A a, B+ b[ ]) WHERE b.LEN > 1 WITHIN 5 OUTPUT timeouts") == ["a0 b1", "a10 b11", "a2", "a20"]


def test_what_ends_for_another_reason_is_no_timeout() -> None:
    """Contiguity: A at 2 is followed by C, A at 0 by B, and that by A. 11 is the last event within 5 of 10."""
    text = "PATTERN SEQ(A a, B b, C c) WHERE {}(a, b, c) WITHIN 5 OUTPUT timeouts"
    assert find(text.format("strict_contiguity")) == find(text.format("partition_contiguity")) == ["a10 b11", "a20"]
    assert find(text.format("skip_till_any_match")) == ["a0", "a0 b1", "a10", "a10 b11", "a2", "a20"]


def test_strict_contiguity_looks_at_the_next_event_of_all() -> None:
    """x is alone until 9, beyond its window; y is interrupted by x."""
    events = pa.table({"ts": [0, 1, 9], "kind": ["A", "A", "A"], "id": ["y", "x", "y"]})
    text = "PATTERN SEQ(A a, B b) WHERE strict_contiguity(a, b) { [id] } WITHIN 5 OUTPUT timeouts"
    assert find(text, events) == ["a1", "a9"]


def test_windows_of_events() -> None:
    assert find("PATTERN SEQ(A a, B b, C c) WITHIN 3 events OUTPUT timeouts") == ["a0 b1", "a10 b11", "a2", "a20"]


def test_they_come_when_time_says_so() -> None:
    query = ost.compile("PATTERN SEQ(A a, B b) WITHIN 5 OUTPUT timeouts", {"events": EVENTS.schema}, type_by="kind")
    session = query.open(lateness=None)
    assert session.push(EVENTS.slice(2, 2)).num_rows == session.advance(7).num_rows == 0
    session = query.open(snapshot=session.snapshot())
    assert names(session.advance(8).to_pylist()) == ["a2"]
    assert session.close().num_rows == 0 and session.metrics()["matches"] == 1


def test_many_at_once() -> None:
    """More than the arrays have room for at first, at the end and by a later event."""
    first = pa.table({"ts": pa.array([0] * 500 + [1] * 500), "kind": ["A"] * 1000})
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) WITHIN 5 OUTPUT timeouts"
    assert len(find(text, first)) == 1000
    assert len(find(text, pa.concat_tables([first, pa.table({"ts": [9], "kind": ["B"]})]))) == 1000


def test_the_budget_holds() -> None:
    events = pa.table({"ts": range(40), "kind": ["A"] * 40})
    text = "PATTERN SEQ(A+ a[ ], B b) WHERE skip_till_any_match(a[ ], b) WITHIN 100 OUTPUT timeouts"
    with pytest.raises(ost.BudgetError):
        ost.match(text, events=events, type_by="kind", budget=ost.Budget(runs=1000))
    with pytest.raises(ost.BudgetError):
        ost.match(text, events=events, type_by="kind", budget=ost.Budget(bytes=1_000_000))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PATTERN SEQ(A a, B b) OUTPUT timeouts", "needs WITHIN"),
        ("PATTERN SEQ(A a, ~(B b), C c) WITHIN 5 OUTPUT timeouts", "negation"),
        ("PATTERN SEQ(A a, B b) WITHIN 5 RETURN Late(a.v) OUTPUT timeouts", "no event `Late`"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ost.OstinatoError, match=message):
        ost.compile(text, {"events": EVENTS.schema}, type_by="kind")


@pytest.mark.parametrize("strategy", ["compact", "backtrack"])
def test_other_strategies_are_refused(strategy: str) -> None:
    with pytest.raises(ost.OstinatoError, match="timeouts are asked for"):
        find("PATTERN SEQ(A a, B b) WITHIN 5 OUTPUT timeouts", strategy=strategy)
