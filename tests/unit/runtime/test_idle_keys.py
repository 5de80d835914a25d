"""Keys that hold nothing are freed, also where conditions look at neighbours; those whose past counts are not."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.runtime.session import idle_keys

SCHEMA = pa.schema([("k", pa.string()), ("ts", pa.int64()), ("v", pa.int64())])
KEYS = 300


def row_pattern(pattern: str, define: str, measures: str = "FIRST(v) AS a, LAST(v) AS z", rows: str = "") -> str:
    return f"""SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES {measures} {rows}
        PATTERN ({pattern}) WITHIN 5 DEFINE {define})"""


TIMEOUTS = "ONE ROW PER MATCH SHOW TIMEOUT MATCHES"
FREED = {
    "a later variable": row_pattern("A B", "B AS v > PREV(v)"),
    "further back, but in the match": row_pattern("A B C", "C AS v > PREV(v, 2), B AS v > PREV(v)"),
    "values of the match": row_pattern("A B", "B AS v > A.v AND v > PREV(v)"),
    "before a value of the match": row_pattern("A B C", "C AS v > PREV(B.v)"),
    "a measure inside of the match": row_pattern("A B", "B AS v > PREV(v)", "PREV(B.v) AS p"),
    "ahead, but in the match": row_pattern("A B", "A AS v < NEXT(v)"),
    "all rows": row_pattern("A B", "B AS v > PREV(v)", "B.v AS b", "ALL ROWS PER MATCH WITH UNMATCHED ROWS"),
    "what the window ended": row_pattern("A B", "B AS v > PREV(v)", "FIRST(v) AS a", TIMEOUTS),
    "numbers, where nothing matched": row_pattern("A B", "B AS v > PREV(v)", "MATCH_NUMBER() AS n"),
}
KEPT = {
    "the first variable": row_pattern("A B", "A AS v > PREV(v)"),
    "a later variable that can stand first": row_pattern("A* B", "B AS v > PREV(v)"),
    "further back than the match": row_pattern("A B", "B AS v > PREV(v, 2)"),
    "before a value": row_pattern("A B", "B AS v > PREV(A.v)"),
    "a measure": row_pattern("A B", "B AS v > 0", "PREV(A.v) AS p"),
    "behind the match": row_pattern("A B", "B AS v < NEXT(v)"),
    "behind what the window ended": row_pattern("A B", "A AS v < NEXT(v)", "A.v AS a", TIMEOUTS),
    "a measure behind what the window ended": row_pattern("A B", "B AS v > 0", "NEXT(A.v) AS n", TIMEOUTS),
    "the first row": row_pattern("^ A B", "B AS v > PREV(v)"),
}


def known_after_one_row_each(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(idle_keys, "FORGET_FROM", 8)
    session = ost.compile(text, {"t": SCHEMA}).open()
    for i in range(KEYS):
        session.push(pa.table({"k": [f"k{i}"], "ts": [2 * i], "v": [i % 3]}, schema=SCHEMA))
    return session.metrics()["keys"]


@pytest.mark.parametrize("name", FREED)
def test_idle_keys_are_freed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert known_after_one_row_each(FREED[name], monkeypatch) < 40


@pytest.mark.parametrize("name", KEPT)
def test_keys_whose_past_counts_are_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert known_after_one_row_each(KEPT[name], monkeypatch) == KEYS


def test_keys_with_numbered_matches_are_kept_and_the_others_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_keys, "FORGET_FROM", 8)
    session = ost.compile(row_pattern("A B", "B AS v > PREV(v)", "MATCH_NUMBER() AS n"), {"t": SCHEMA}).open()

    def pair(time: int) -> pa.Table:
        return pa.table({"k": ["counted", "counted"], "ts": [time, time + 1], "v": [1, 2]}, schema=SCHEMA)

    found = session.push(pair(0)).to_pylist()
    for i in range(KEYS):
        session.push(pa.table({"k": [f"k{i}"], "ts": [2 * i + 2], "v": [0]}, schema=SCHEMA))
    assert 1 <= session.metrics()["keys"] < 40
    found += session.push(pair(3 * KEYS)).to_pylist()
    assert [row["n"] for row in found] == [1, 2]


def test_a_session_that_forgot_every_key_is_saved_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_keys, "FORGET_FROM", 0)
    query = ost.compile(row_pattern("A", "A AS v > 3"), {"t": SCHEMA})
    session = query.open()
    assert session.push(pa.table({"k": ["a", "b"], "ts": [0, 1], "v": [1, 2]}, schema=SCHEMA)).num_rows == 0
    assert session.metrics()["keys"] == 0
    session = query.open(snapshot=session.snapshot())
    found = session.push(pa.table({"k": ["b", "c"], "ts": [1, 2], "v": [4, 5]}, schema=SCHEMA)).to_pylist()
    assert [(row["k"], row["a"]) for row in found + session.close().to_pylist()] == [("b", 4), ("c", 5)]
