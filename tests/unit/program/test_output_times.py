"""How old the times of a result can be when it is decided: a match by its last event, what its window ended only by the window."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.program.analysis.output_times import output_times

SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string())])


def of(text: str, before: int = 0) -> dict[str, int]:
    options = {} if text.startswith("SELECT") else {"type_by": "kind"}
    return output_times(ost.compile(text, {"t": SCHEMA}, **options).pattern, before)


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("PATTERN SEQ(A a, B b) WITHIN 5", {"start_ts": 5, "end_ts": 0}),
        ("PATTERN SEQ(A a, B b)", {"end_ts": 0}),
        ("PATTERN SEQ(A a, ~(B b)) WITHIN 5", {"start_ts": 5, "end_ts": 5}),
        ("PATTERN SEQ(A a, ~(B x), B b) WITHIN 5", {"start_ts": 5, "end_ts": 0}),
        ("PATTERN SEQ(A a, B b) WITHIN 5 OUTPUT timeouts", {"start_ts": 5, "end_ts": 5}),
        ("PATTERN SEQ(A a, B b) WITHIN 5 events OUTPUT timeouts", {}),
        ("PATTERN SEQ(A a, B b) WITHIN 5 OUTPUT count", {}),
        ("PATTERN SEQ(A a, B b) WITHIN 5 RETURN P(a.kind AS k)", {"ts": 0}),
        ("PATTERN SEQ(A a, B b) WITHIN 5 RETURN P(a.ts, b.ts AS last, b.ts + 1 AS later)", {"ts": 5, "last": 5}),
        ("PATTERN SEQ(A a, B b) RETURN P(a.ts)", {}),
        ("PATTERN SEQ(A a, B b, ~(A x)) WITHIN 5 RETURN P(a.kind AS k)", {"ts": 5}),
    ],
)
def test_times_behind(text: str, behind: dict[str, int]) -> None:
    assert of(text) == behind


def test_rows_that_are_old_already() -> None:
    assert of("PATTERN SEQ(A a, B b) WITHIN 5", before=3) == {"start_ts": 8, "end_ts": 3}
    assert of("PATTERN SEQ(A a, ~(B b)) WITHIN 5", before=3) == {"start_ts": 8, "end_ts": 8}


def test_row_patterns_wait_for_their_window() -> None:
    text = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES LAST(ts) AS z, PREV(LAST(ts)) AS y, FIRST(ts) AS a {more}
        PATTERN (A B) WITHIN 5 DEFINE B AS kind = 'B')"""
    assert of(text.format(more="ONE ROW PER MATCH")) == {"z": 5, "a": 5}
    assert of(text.format(more="ALL ROWS PER MATCH")) == {"z": 5, "a": 5, "ts": 5}


@pytest.mark.parametrize(
    ("rows", "measure", "condition", "behind"),
    [
        ("", "LAST(ts) AS z", "v < NEXT(v)", {"z": 5}),
        ("", "LAST(ts) AS z, NEXT(A.v) AS n", "TRUE", {"z": 5}),
        ("", "LAST(ts) AS z, NEXT(v) AS n", "TRUE", {}),
        ("SHOW TIMEOUT MATCHES", "LAST(ts) AS z", "TRUE", {"z": 5}),
        ("SHOW TIMEOUT MATCHES", "LAST(ts) AS z", "v < NEXT(v)", {}),
        ("SHOW TIMEOUT MATCHES", "LAST(ts) AS z, NEXT(A.v) AS n", "TRUE", {}),
    ],
)
def test_rows_behind_a_match_may_come_at_any_time(rows: str, measure: str, condition: str, behind: dict[str, int]) -> None:
    text = f"""SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES {measure} ONE ROW PER MATCH {rows}
        PATTERN (A B) WITHIN 5 DEFINE A AS {condition})"""
    schema = pa.schema([("ts", pa.int64()), ("k", pa.string()), ("v", pa.int64())])
    assert output_times(ost.compile(text, {"t": schema}).pattern) == behind
