"""Sessions that a worker leaves open are those that were stored, or none."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from tests.unit.hosts.spark.driven_buckets import DrivenBuckets
from tests.unit.hosts.spark.test_live_rules import PAIR, SCHEMA, lines, rows, some

import ostinato as ost
from ostinato.hosts.spark.streaming import open_sessions
from ostinato.hosts.spark.streaming.open_sessions import MOST, forget, left_open, taken
from ostinato.hosts.spark.streaming.waiting import Waiting
from ostinato.hosts.spark.types import as_on_spark
from ostinato.hosts.spark.work import Work


def test_a_session_is_known_by_what_was_stored_of_it():
    forget()
    session = some("one").open()
    left_open(b"stored", (1,), session)
    assert taken(b"other", (1,)) is None and taken(b"stored", (2,)) is None
    assert taken(b"stored", (1,)) is session
    assert taken(b"stored", (1,)) is None, "who takes it changes it"


def test_few_are_kept():
    forget()
    sessions = [some("one").open() for _ in range(MOST + 1)]
    for number, session in enumerate(sessions):
        left_open(bytes([number]), (), session)
    assert [taken(bytes([number]), ()) for number in range(MOST + 1)] == [None, *sessions[1:]]


def test_a_task_that_fails_leaves_nothing(monkeypatch):
    """Run again, it begins with what is stored."""
    queries = ost.QuerySet({"t": SCHEMA})
    for limit in range(6):
        queries.add(f"q{limit}", PAIR.format(limit, 8 - limit))
    driven = DrivenBuckets(Work(queries.program, as_on_spark(queries.output_schema), is_set=True), Waiting(0, 1), buckets=1)
    session = queries.open()
    first, second = rows(40, 1), rows(40, 2, 40)
    found = driven.batch(first)
    with monkeypatch.context() as patched:
        patched.setattr("ostinato.hosts.spark.streaming.bucket_processor.row_count", _breaks)
        with pytest.raises(ZeroDivisionError):
            driven.batch(second)
    assert not open_sessions._open
    found += driven.batch(second)
    assert lines(found) == lines([*_listed(session.push("t", first)), *_listed(session.push("t", second))])


def _breaks(decided: object) -> int:
    return 1 // 0


def _listed(found: dict) -> list[dict]:
    return [{"query_id": name, **row} for name, table in found.items() for row in table.to_pylist()]
