"""SHOW TIMEOUT MATCHES: partial matches that their window ended are rows of the result, told apart by `timed_out`."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.reference import output

ROWS = pa.table({"ts": [0, 1, 2, 3, 9, 10, 20], "v": [1, 2, 2, 9, 1, 2, 1]})
TEXT = """SELECT * FROM t MATCH_RECOGNIZE ({partition} ORDER BY ts
    MEASURES FIRST(ts) AS a, LAST(ts) AS z, COUNT(*) AS n, CLASSIFIER() AS c
    ONE ROW PER MATCH SHOW TIMEOUT MATCHES {skip} PATTERN ({pattern}) WITHIN {within} DEFINE {define})"""


def text(pattern: str, define: str, within: str = "3", skip: str = "", partition: str = "") -> str:
    return TEXT.format(pattern=pattern, define=define, within=within, skip=skip, partition=partition)


def test_what_the_window_ends() -> None:
    """From 0 on A B B reads all rows of the window but the last, which is no B: nothing was open any more. At 9 the window ends behind
    A B, at 20 the input does."""
    found = ost.sql(text("A B+ C", "A AS v = 1, B AS v = 2, C AS v = 3"), t=ROWS).to_arrow().to_pylist()
    assert found == [
        {"a": 9, "z": 10, "n": 2, "c": "B", "timed_out": True},
        {"a": 20, "z": 20, "n": 1, "c": "A", "timed_out": True},
    ]
    matched = ost.sql(text("A B+ C", "A AS v = 1, B AS v = 2, C AS v = 9"), t=ROWS)
    assert [(row["a"], row["timed_out"]) for row in matched.to_arrow().to_pylist()] == [(0, False), (9, True), (20, True)]
    assert matched.metrics["timed_out"] == 2 and matched.metrics["matches"] == 1


def test_they_come_when_time_says_so() -> None:
    session = ost.compile(text("A B+ C", "A AS v = 1, B AS v = 2, C AS v = 3"), {"t": ROWS.schema}).open(lateness=None)
    assert session.push(ROWS.slice(4, 2)).num_rows == session.advance(12).num_rows == 0
    assert [row["z"] for row in session.advance(13).to_pylist()] == [10]
    assert session.close().num_rows == 0


BEYOND = {
    "a measure": ("NEXT(A.v) AS seen", "A AS v = 1, B AS v = 2", [1, 7, 8], {"seen": 7, "timed_out": True}),
    "two rows on": ("NEXT(A.v, 2) AS seen", "A AS v = 1, B AS v = 2", [1, 7, 8], {"seen": 8, "timed_out": True}),
    "a condition": ("A.v AS seen", "A AS v >= NEXT(v), B AS v = 9", [7, 1, 2], {"seen": 7, "timed_out": True}),
    "compared with the match": ("A.v AS seen", "A AS A.v >= NEXT(A.v) + 1, B AS v > 2 * A.v", [7, 1, 2], {"seen": 7, "timed_out": True}),
}


@pytest.mark.parametrize("name", BEYOND)
@pytest.mark.parametrize("strategy", ["scan", "threads"])
@pytest.mark.parametrize("lateness", [0, 2, None])
def test_rows_behind_the_window_are_waited_for(name: str, strategy: str, lateness: int | None) -> None:
    """That the window is over, which the watermark or a row of another partition says, does not decide what NEXT asks for."""
    measure, define, values, first = BEYOND[name]
    clause = f"""SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES {measure}
        ONE ROW PER MATCH SHOW TIMEOUT MATCHES PATTERN (A B) WITHIN 2 DEFINE {define})"""
    rows = pa.table({"k": ["x", "y", "x", "x"], "ts": [0, 5, 7, 8], "v": [values[0], 0, *values[1:]]})
    query = ost.compile(clause, {"t": rows.schema}, strategy="threads" if "compared" in name else strategy)
    for advanced in (False, True):
        session, found = query.open(lateness=lateness), []
        for i in range(len(rows)):
            found += session.push(rows.slice(i, 1)).to_pylist()
            found += session.advance(rows["ts"][i].as_py()).to_pylist() if advanced else []
            session = query.open(lateness=lateness, snapshot=session.snapshot())
        found += session.close().to_pylist()
        assert found[0] == {"k": "x"} | first
        assert Counter(map(str, found)) == Counter(map(str, ost.sql(clause, t=rows).to_arrow().to_pylist()))


CASES = [
    ("A B+ C", "A AS v = 1, B AS v > 1, C AS v > 2"),
    ("A B* C D?", "A AS v = 1, B AS v >= PREV(v), C AS v < 2"),
    ("(A | B) C+ D", "A AS v > 0, B AS true, C AS v < 3, D AS v = 3"),
    ("A B+? C", "A AS v = 1, C AS v > A.v AND v > 2"),
    ("A (B C)+ D", "B AS v > A.v, C AS v < LAST(B.v), D AS v = A.v"),
]


@pytest.mark.parametrize(("pattern", "define"), CASES)
@pytest.mark.parametrize("within", ["3", "5"])
def test_engine_and_reference(pattern: str, define: str, within: str) -> None:
    rng = random.Random(f"{pattern}{within}")
    for round in range(6):
        times = sorted(rng.randint(0, 20) for _ in range(rng.randint(1, 14)))
        rows = [{"ts": time, "k": rng.choice("xy"), "v": rng.randint(0, 3)} for time in times]
        skip = rng.choice(("", "AFTER MATCH SKIP TO NEXT ROW"))
        table = pa.Table.from_pylist(rows, pa.schema([("ts", pa.int64()), ("k", pa.string()), ("v", pa.int64())]))
        query = ost.compile(text(pattern, define, within, skip, "PARTITION BY k"), {"t": table.schema})
        expected = Counter(map(str, output(query.algebra, rows)))
        session = query.open()
        found = []
        for i in range(len(rows)):
            found += session.push(table.slice(i, 1)).to_pylist()
            if rng.random() < 0.4:
                session = query.open(snapshot=session.snapshot())
            if rng.random() < 0.3:
                found += session.advance(rows[i]["ts"]).to_pylist()
        found += session.close().to_pylist()
        assert Counter(map(str, found)) == expected, (round, rows)
        assert Counter(map(str, ost.sql(query.text, t=table).to_arrow().to_pylist())) == expected


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"WITHIN 3": ""}, "needs WITHIN"),
        ({"COUNT(*) AS n": "COUNT(*) AS timed_out"}, "adds a column timed_out"),
        ({"COUNT(*) AS n": "MATCH_NUMBER() AS n"}, "MATCH_NUMBER"),
        ({"PATTERN (A": "PATTERN (^ A"}, "an anchor"),
        ({"SHOW TIMEOUT MATCHES": "SHOW TIMEOUT MATCHES AFTER MATCH SKIP TO LAST B"}, "SKIP TO a variable"),
    ],
)
def test_refused(changed: dict[str, str], message: str) -> None:
    whole = text("A B", "A AS v = 1")
    for old, new in changed.items():
        assert old in whole
        whole = whole.replace(old, new)
    with pytest.raises(ost.OstinatoError, match=message):
        ost.compile(whole, {"t": ROWS.schema})


def test_the_text_says_it_again() -> None:
    query = ost.compile(text("A B", "A AS v = 1"), {"t": ROWS.schema})
    assert "ONE ROW PER MATCH SHOW TIMEOUT MATCHES" in query.explain("syntax") and "timeouts:" in query.explain()
