"""A snapshot carries what the session was told."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.runtime.snapshots import snapshot as container

ROWS = pa.table({"ts": [10, 12, 11, 20], "n": [1, 2, 3, 4]})
TEXT = "PATTERN SEQ(A a, A b) RETURN a.n AS a, b.n AS b"
SCHEMAS = {"a": ROWS.schema}


def query(**options) -> ost.Query:
    return ost.compile(TEXT, SCHEMAS, **options)


@pytest.mark.parametrize("lateness", [0, 5, None])
def test_a_session_goes_on_with_its_lateness(lateness: int | None) -> None:
    whole, parts = query().open(lateness=lateness), query().open(lateness=lateness)
    expected = [row for i in range(4) for row in whole.push(ROWS.slice(i, 1)).to_pylist()] + whole.close().to_pylist()
    found = []
    for i in range(4):
        parts = query().open(snapshot=parts.snapshot())
        assert parts.options.lateness == lateness
        found += parts.push(ROWS.slice(i, 1)).to_pylist()
    assert found + parts.close().to_pylist() == expected and parts.metrics()["late_rows"] == (lateness == 0)


@pytest.mark.parametrize(
    ("told", "again", "message"),
    [
        ({"lateness": 5}, {"lateness": 0}, "made with lateness=5, and the session is to go on with lateness=0"),
        ({"lateness": 5}, {"lateness": None}, "lateness=None"),
        ({}, {"lateness": 1}, "made with lateness=0"),
        ({"ordered": True}, {"ordered": False}, "made with ordered=True"),
        ({"late": "keep"}, {"late": "count"}, "made with late='keep'"),
    ],
)
def test_what_is_said_again_has_to_be_the_same(told: dict, again: dict, message: str) -> None:
    session = query().open(**told)
    session.push(ROWS.slice(0, 1))
    blob = session.snapshot()
    assert query().open(snapshot=blob, **told).options == query().open(snapshot=blob).options == session.options
    with pytest.raises(ost.StateError, match=message):
        query().open(snapshot=blob, **again)


def test_a_budget_is_carried_and_may_change() -> None:
    session = query().open(budget=ost.Budget(runs=2, overflow="shed oldest"))
    blob = session.snapshot()
    again = query().open(snapshot=blob)
    assert again.budget.runs == 2 and again.budget.overflow.value == "shed oldest"
    assert query().open(snapshot=blob, budget=ost.Budget(runs=3)).budget.runs == 3
    assert query().open(snapshot=query().open().snapshot()).options.budget is None


def test_streams_are_known_by_their_columns() -> None:
    a, b = ROWS.schema, pa.schema([("at", pa.int64()), ("ts", pa.int64())])
    text = "PATTERN SEQ(A a, B b) RETURN a.n AS a, b.ts AS b"
    session = ost.compile(text, {"a": a, "b": b}, time={"b": "at"}).open(lateness=None)
    blob = session.snapshot()
    assert ost.Session(session.program, snapshot=blob).program.inputs == session.program.inputs
    with pytest.raises(ost.StateError, match="belongs to another query"):
        ost.compile(text, {"a": a, "b": b}).open(snapshot=blob)


def test_what_makes_no_sense_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    session = query().open()
    with pytest.raises(ost.OstinatoError, match="late='now' is unknown"):
        query().open(late="now")
    for wrong in ({"lateness": -1}, {"late": 3}, {"ordered": 1}, {"budget": {"runs": 0, "bytes": None, "overflow": "error"}}):
        scalars, arrays, blobs = container.unpack(session.program, session.snapshot())
        forged = container.pack(session.program, scalars | {"options": scalars["options"] | wrong}, arrays, blobs)
        with pytest.raises(ost.StateError, match="damaged"):
            query().open(snapshot=forged)


def test_a_snapshot_of_an_older_format_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    session = query().open()
    monkeypatch.setattr(container, "FORMAT", 2)
    older = session.snapshot()
    monkeypatch.undo()
    with pytest.raises(ost.StateError, match="has format 2") as caught:
        query().open(snapshot=older)
    assert "push the rows again" in str(caught.value)


def test_the_former_name_of_the_overflow_policy_is_understood() -> None:
    with pytest.warns(DeprecationWarning, match="overflow="):
        budget = ost.Budget(runs=2, beyond="shed oldest")
    assert budget == ost.Budget(runs=2, overflow="shed oldest") and budget.of_task(2).overflow is budget.overflow
    with pytest.raises(ost.OstinatoError, match="overflow='later'"):
        ost.Budget(overflow="later")
