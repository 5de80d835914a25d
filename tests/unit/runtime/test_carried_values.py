"""Structs and lists that instances carry: right over any cut, saved and restored, and not there for ever."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.runtime.rows import opaque_values

BOX = pa.struct([("id", pa.int64()), ("notes", pa.list_(pa.string()))])
SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.int64()), ("box", BOX), ("ids", pa.list_(pa.int64()))])
PAIRS = "SELECT box_1, box, ids FROM FILTER {DUR <= 40} ((SELECT k, box, ids FROM t) NEXT {$2.j = $1.k} (SELECT k - 20 AS j, box FROM t))"
LAST = """SELECT box_1, last FROM FILTER {DUR < 9} ((SELECT k, box, box AS last FROM t)
    FOLD {$2.k > $.k, TRUE, $2.box AS last} (SELECT k, box FROM t))"""


def rows(first: int, count: int, letters: int = 1) -> pa.Table:
    listed = [
        {"ts": i, "k": i, "box": None if i % 9 == 4 else {"id": i, "notes": [f"{i}" * letters]}, "ids": [i] * (i % 3)}
        for i in range(first, first + count)
    ]
    return pa.Table.from_pylist(listed, SCHEMA)


def query(text: str) -> ost.Query:
    return ost.compile(text, {"t": SCHEMA}, language="cel")


def box(i: int) -> dict[str, Any] | None:
    return None if i % 9 == 4 else {"id": i, "notes": [f"{i}"]}


def heaps(session: ost.Session) -> list[int]:
    return [len(heap) for heap in session.graph.inputs[0].rows.heaps]


def test_values_outlive_their_rows_and_snapshots() -> None:
    session, found = query(PAIRS).open(lateness=0), []
    for first in range(0, 200, 7):
        found += session.push(rows(first, 7)).to_pylist()
        session = query(PAIRS).open(lateness=0, snapshot=session.snapshot())
        assert max(heaps(session)) <= 20 + 7 + 1  # with one that was used up in the last epoch
    assert [(row["box_1"], row["box"], row["ids"]) for row in found] == [(box(i), box(i + 20), [i] * (i % 3)) for i in range(203 - 20)]


def test_columns_of_one_type_have_one_heap() -> None:
    text = "SELECT a, b FROM (SELECT box AS a, k FROM t) NEXT {$2.j = $1.k} (SELECT other AS b, k - 1 AS j FROM u)"
    other = pa.schema([("ts", pa.int64()), ("k", pa.int64()), ("other", BOX)])
    session = ost.compile(text, {"t": SCHEMA, "u": other}, language="cel").open(lateness=0)
    session.push("t", rows(0, 3))
    assert len(heaps(session)) == 1
    found = session.push("u", pa.table({"ts": [5], "k": [3], "other": pa.array([{"id": 7}], BOX)}, schema=other)).to_pylist()
    assert [(row["a"]["id"], row["b"]["id"]) for row in found] == [(2, 7)]


@pytest.mark.parametrize("bound", ["SWEEP_FROM", "SWEEP_BYTES"])
def test_what_nothing_carries_any_more_is_forgotten(monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    """By their number, or by what they take."""
    monkeypatch.setattr(opaque_values, bound, {"SWEEP_FROM": 100, "SWEEP_BYTES": 20_000}[bound])
    session, most, found = query(LAST).open(lateness=0), 0, 0
    for first in range(0, 3000, 25):
        table = session.push(rows(first, 25, letters=30))
        assert all(row["last"] is None or row["last"]["id"] > first - 10 for row in table.to_pylist())
        most, found = max(most, *heaps(session)), found + table.num_rows
    assert most < 1000 and found > 20_000


def test_values_that_are_carried_are_charged() -> None:
    """Of a batch that brings more than the budget, an error; what a sweep frees is not."""
    session = query(PAIRS).open(lateness=0, budget=ost.Budget(bytes=600_000))
    for first in range(0, 1000, 10):
        session.push(rows(first, 10, letters=1000))
    assert session.metrics()["instances"] < 150
    with pytest.raises(ost.BudgetError, match="rows that are needed"):
        for first in range(1000, 2000, 2):
            session.push(rows(first, 2, letters=20_000))
