"""The public test kit, used as its users use it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ostinato.base.errors import OstinatoError, UnknownNameError
from ostinato.testing import given

EVENTS = [
    {"id": "e1", "ts": 1, "kind": "A", "v": 1},
    {"id": "e2", "ts": 2, "kind": "B", "v": 2},
    {"id": "e3", "ts": 3, "kind": "B", "v": 3},
]
PATTERN = "PATTERN SEQ(A a, B+ b[ ]) WHERE skip_till_next_match(a, b[ ]) { b[i].v > a.v }"
SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  ORDER BY ts MEASURES FIRST(id) AS f, COUNT(*) AS n, AVG(v) AS mean PATTERN (A B+) DEFINE B AS v > PREV(v))"""


def test_matches_by_an_attribute() -> None:
    given(events=EVENTS).match(PATTERN, type_by="kind", by="id").expect([{"a": "e1", "b": ["e2"]}, {"a": "e1", "b": ["e2", "e3"]}])


def test_matches_by_position() -> None:
    given(events=EVENTS).match(PATTERN, type_by="kind", output="first").expect([{"a": 0, "b": 1}])


def test_measures() -> None:
    given(t=EVENTS).match(SQL).expect([{"f": "e1", "n": 3, "mean": 2.0}])


def test_arrow_input() -> None:
    given(t=pa.Table.from_pylist(EVENTS)).match(SQL).expect([{"f": "e1", "n": 3, "mean": 2.0}])


def test_an_empty_stream_needs_a_schema() -> None:
    schema = pa.table(pa.Table.from_pylist(EVENTS)).schema
    given(schema, t=[]).match(SQL).expect([])


def test_counts() -> None:
    given(events=EVENTS).match(PATTERN, type_by="kind", output="count").expect([{"count": 2}])


def test_step_by_step() -> None:
    steps = given(events=EVENTS).match(PATTERN, type_by="kind", by="id")
    steps.push(1).expect([])
    steps.push(1).expect([{"a": "e1", "b": "e2"}])
    steps.restart().push().expect([{"a": "e1", "b": ["e2", "e3"]}])
    steps.close().expect([])


def test_events_wait_for_the_watermark() -> None:
    steps = given(events=[EVENTS[1], EVENTS[0]]).match(PATTERN, type_by="kind", by="id", lateness=None)
    steps.push().expect([])
    steps.advance(3).expect([{"a": "e1", "b": "e2"}])
    steps.close().expect([])


@pytest.mark.parametrize(
    ("expected", "words"), [([], "not expected: {'a': 0, 'b': 1}"), ([{"a": 0, "b": 1}, {"a": 0}], "missing: {'a': 0}")]
)
def test_what_is_wrong_is_said(expected: list[dict[str, object]], words: str) -> None:
    scenario = given(events=EVENTS).match(PATTERN, type_by="kind", output="first")
    with pytest.raises(AssertionError) as raised:
        scenario.expect(expected)
    assert words in str(raised.value)


def test_one_stream_only() -> None:
    with pytest.raises(OstinatoError, match="one stream"):
        given(a=EVENTS, b=EVENTS)


def test_errors_of_the_query_come_through() -> None:
    with pytest.raises(UnknownNameError):
        given(events=EVENTS).match(PATTERN.replace("b[i].v", "b[i].nope"), type_by="kind")
