"""Aggregates over the matches of a sliding window are those over the matches one by one: starts leave the window while others go on."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost

SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("k", pa.string()), ("v", pa.int64())])
PATTERNS = {
    "three in a row": "PATTERN SEQ(A a, B b, C c) WHERE skip_till_any_match(a, b, c) {{ {keys} a.v > 0 }}",
    "a list in between": "PATTERN SEQ(A a, B+ b[ ], C c) WHERE skip_till_any_match(a, b[ ], c) {{ {keys} a.v > 0 }}",
    "four with a list": "PATTERN SEQ(A a, B b, C+ c[ ], A d) WHERE skip_till_any_match(a, b, c[ ], d) {{ {keys} a.v > 0 }}",
}


def rows(count: int = 90) -> pa.Table:
    rng = np.random.default_rng(8)
    columns = [np.arange(count), rng.choice(["A", "B", "C"], count), rng.choice(["x", "y"], count), rng.integers(0, 50, count)]
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def found(text: str, output: str, at_once: int) -> list[dict]:
    session = ost.compile(text, {"e": SCHEMA}, type_by="kind", output=output).open(lateness=0)
    table = rows()
    pushed = [session.push(table.slice(at, at_once)) for at in range(0, table.num_rows, at_once)]
    return [row for part in [*pushed, session.close()] for row in part.to_pylist()]


@pytest.mark.parametrize("window", [9, 14])
@pytest.mark.parametrize("keys", ["", "[k] AND"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_aggregates_of_a_sliding_window(pattern: str, keys: str, window: int) -> None:
    text = f"{PATTERNS[pattern].format(keys=keys)} WITHIN {window}"
    listed = [row["a"]["v"] for row in found(text, "all", 90)]
    wanted = {"n": len(listed), "total": sum(listed), "low": min(listed), "high": max(listed)}
    text += " RETURN count(*) AS n, sum(a.v) AS total, min(a.v) AS low, max(a.v) AS high"
    assert len(listed) > 10
    for at_once in (90, 7):
        assert found(text, "aggregates", at_once) == [wanted]


@pytest.mark.parametrize("window", [9, 14])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("together", [(), (10, 11, 12, 40, 41, 77)])
def test_simultaneous_events_do_not_follow_one_another(pattern: str, window: int, together: tuple[int, ...]) -> None:
    """Of times that several events have, and of others; wherever the input is cut."""
    table = rows()
    times = np.array([time - 1 if time in together else time for time in range(table.num_rows)])
    table = table.set_column(0, "ts", pa.array(np.maximum.accumulate(times)))
    text = f"{PATTERNS[pattern].format(keys='')} WITHIN {window}"
    options = {"type_by": "kind", "ties": "epoch"}
    listed = ost.compile(text, {"e": SCHEMA}, **options).open()
    wanted = listed.push(table).num_rows + listed.close().num_rows
    for at_once in (90, 7, 1):
        session = ost.compile(text, {"e": SCHEMA}, output="count", **options).open()
        for at in range(0, table.num_rows, at_once):
            session.push(table.slice(at, at_once))
        assert session.close().to_pylist() == [{"count": wanted}]


def test_what_is_alone_at_its_time_has_not_to_wait() -> None:
    """An event of the window for each of them, and none for time that goes on: but behind the last, for another may be simultaneous."""
    query = ost.compile(
        "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { a.v > 0 } WITHIN 100",
        {"e": SCHEMA}, type_by="kind", output="count", ties="epoch",
    )  # fmt: skip
    session = query.open()
    table = pa.table({"ts": range(6), "kind": ["A"] * 6, "k": ["x"] * 6, "v": [1] * 6}, SCHEMA)
    session.push(table.slice(0, 5))
    assert session.metrics()["window_events"] == 5
    session.push(table.slice(5))
    assert session.metrics()["window_events"] == 7
