"""Patterns that both languages can express have the same matches in both: MATCH_RECOGNIZE takes contiguous rows of a partition, as
partition contiguity does, and one match per start; so the patterns here have one match per start at most."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

import ostinato as ost

START = datetime(2026, 1, 1, tzinfo=UTC)

# name: (elements of SASE+, its conditions, pattern of SQL, its conditions)
PATTERNS = {
    "one event": ("t a", "a.v > 2", "A", "A AS v > 2"),
    "two events": ("t a, t b", "b.v > a.v", "A B", "B AS v > A.v"),
    "three events, a static and a dynamic condition": (
        "t a, t b, t c", "a.v < 3 and b.v > a.v and c.v + a.v > b.v", "A B C", "A AS v < 3, B AS v > A.v, C AS v + A.v > B.v",
    ),
    "a fall and a rise": (
        "t a, t+ b[ ], t c",
        "b[1].v < a.v and b[i].v < b[i-1].v and c.v > b[b.LEN].v",
        "A B+ C",
        "B AS v < PREV(v), C AS v > PREV(v)",
    ),
    "a list that may be empty": (
        "t a, t* b[ ], t c", "a.v < 2 and b[i].v between 2 and 3 and c.v > 3", "A B* C", "A AS v < 2, B AS v BETWEEN 2 AND 3, C AS v > 3",
    ),
    "an optional event": ("t a, t? b, t c", "a.v < 2 and b.v = 2 and c.v > 2", "A B? C", "A AS v < 2, B AS v = 2, C AS v > 2"),
    "running aggregates": (
        "t a, t+ b[ ], t c",
        "b[1].v > 1 and b[i].v >= avg(b[..i-1].v) and b[i].v > 1 and c.v < 2 and c.v < avg(b[].v)",
        "A B+ C",
        "B AS v > 1 AND v >= COALESCE((SUM(B.v) - v) / NULLIF(COUNT(B.v) - 1, 0), v), C AS v < 2 AND v < AVG(B.v)",
    ),
    "alternatives": (
        "t a, (t b | SEQ(t c, t d)), t e",
        "a.v < 2 and b.v = 2 and c.v = 3 and d.v > c.v and e.v > a.v",
        "A (B | C D) E",
        "A AS v < 2, B AS v = 2, C AS v = 3, D AS v > C.v, E AS v > A.v",
    ),
    "alternatives with a list": (
        "t a, ANY(t+ b[ ], t c), t e", "a.v < 2 and b[i].v = 2 and c.v = 3 and e.v > 3", "A (B+ | C) E",
        "A AS v < 2, B AS v = 2, C AS v = 3, E AS v > 3",
    ),
}  # fmt: skip
NAMES = "abcde"


def stream(seed: int) -> pa.Table:
    rng = random.Random(seed)
    size = rng.choice((0, 6, 40))
    times = sorted(rng.sample(range(size * 2), size))  # no ties: the languages need not order them alike
    return pa.table(
        {
            "ts": pa.array([START + timedelta(seconds=second) for second in times], pa.timestamp("us", "UTC")),
            "k": pa.array([rng.choice("xy") for _ in times], pa.string()),
            "v": pa.array([rng.choice((0, 1, 2, 3, 4, 5, None)) for _ in times], pa.int64()),
        }
    )


def in_sase(name: str, table: pa.Table, strategy: str, key: str, window: str, output: str) -> list[tuple]:
    elements, conditions, _, _ = PATTERNS[name]
    variables = [word for word in NAMES if f" {word}" in elements]
    listed = ", ".join(word + ("[ ]" if f" {word}[ ]" in elements else "") for word in variables)
    returned = ", ".join(f"count({word}.ts) AS {word}, min({word}.ts) AS {word}_first" for word in variables)
    text = f"PATTERN SEQ({elements}) WHERE {strategy}({listed}) {{ {key}{conditions} }} {window} RETURN {returned} OUTPUT {output}"
    return sorted(map(repr, ost.match(text, t=table)))


def in_sql(name: str, table: pa.Table, key: str, window: str, skip: str) -> list[tuple]:
    elements, _, pattern, conditions = PATTERNS[name]
    variables = [word for word in NAMES if f" {word}" in elements]
    measures = ", ".join(f"COUNT({word}.ts) AS {word}, MIN({word}.ts) AS {word}_first" for word in variables)
    columns = ", ".join(f"{word}, {word}_first" for word in variables)
    clause = f"{key} ORDER BY ts MEASURES {measures} AFTER MATCH SKIP {skip} PATTERN ({pattern}) {window} DEFINE {conditions}"
    return sorted(map(repr, ost.sql(f"SELECT {columns} FROM t MATCH_RECOGNIZE ({clause})", t=table)))


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 12), marks=pytest.mark.slow)], ids=["some", "more"])
@pytest.mark.parametrize("name", PATTERNS)
def test_the_same_matches(name: str, seeds: range) -> None:
    found = 0
    for seed in seeds:
        table = stream(seed)
        seconds = random.Random(seed).choice((None, 4, 9))
        windows = ("", "") if seconds is None else (f"WITHIN {seconds} seconds", f"WITHIN INTERVAL '{seconds}' SECOND")
        keyed = seed % 3 > 0
        strategy, keys = ("partition_contiguity", ("[k] and ", "PARTITION BY k")) if keyed else ("strict_contiguity", ("", ""))
        for output, skip in (("all", "TO NEXT ROW"), ("nonoverlapping", "PAST LAST ROW"), ("first", "TO NEXT ROW")):
            expected = in_sql(name, table, keys[1], windows[1], skip)
            assert in_sase(name, table, strategy, keys[0], windows[0], output) == expected, f"{name}, seed {seed}, {output}"
            found += len(expected)
    assert found > 2


# Where SASE+ skips, MATCH_RECOGNIZE needs a variable for what lies between: X for rows that cannot be the next event.
# name: (elements, conditions, pattern, definitions, outputs that have one match per start at most)
SKIPPING = {
    "two events": (
        "t a, t b", "a.v < 2 and b.v > 3", "A X* B", "A AS v < 2, B AS v > 3, X AS NOT COALESCE(v > 3, false)", ("all", "first"),
    ),
    "compared with the first": (
        "t a, t b", "b.v > a.v + 1", "A X* B", "B AS v > A.v + 1, X AS NOT COALESCE(v > A.v + 1, false)", ("all", "first"),
    ),
    "three events": (
        "t a, t b, t c",
        "a.v = 2 and b.v < a.v and c.v > a.v + b.v",
        "A X* B Y* C",
        "A AS v = 2, B AS v < A.v, C AS v > A.v + B.v, X AS NOT COALESCE(v < A.v, false), Y AS NOT COALESCE(v > A.v + B.v, false)",
        ("all", "first"),
    ),
    "a list, up to the first event that ends it": (
        "t a, t+ b[ ], t c",
        "a.v = 0 and b[i].v between 1 and 3 and c.v > 3",
        "A X* B (B | Y)* C",
        "A AS v = 0, B AS v BETWEEN 1 AND 3, C AS v > 3, X AS NOT COALESCE(v BETWEEN 1 AND 3, false), Y AS v = 0 OR v IS NULL",
        ("first",),
    ),
    "a list that rises": (
        "t a, t+ b[ ], t c",
        "a.v = 0 and b[i].v > b[i-1].v and b[i].v between 1 and 3 and c.v > 3 and c.v > b.LEN",
        "A X* B (B | Y)* C",
        "A AS v = 0, B AS v BETWEEN 1 AND 3 AND (COUNT(B.ts) = 1 OR v > LAST(B.v, 1)), C AS v > 3 AND v > COUNT(B.ts),"
        " X AS NOT COALESCE(v BETWEEN 1 AND 3, false),"
        " Y AS NOT COALESCE(v BETWEEN 1 AND 3 AND v > LAST(B.v), false) AND NOT COALESCE(v > 3 AND v > COUNT(B.ts), false)",
        ("first",),
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::ostinato.ExplosionWarning")
@pytest.mark.parametrize("seeds", [range(20, 29), pytest.param(range(29, 38), marks=pytest.mark.slow)], ids=["some", "more"])
@pytest.mark.parametrize("name", SKIPPING)
def test_the_same_matches_where_events_are_skipped(name: str, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    *pattern, outputs = SKIPPING[name]
    monkeypatch.setitem(PATTERNS, name, tuple(pattern))
    found = 0
    for seed in seeds:
        table = stream(seed)
        seconds = random.Random(seed).choice((None, 12, 20))
        windows = ("", "") if seconds is None else (f"WITHIN {seconds} seconds", f"WITHIN INTERVAL '{seconds}' SECOND")
        keys = ("[k] and ", "PARTITION BY k") if seed % 3 > 0 else ("", "")
        expected = in_sql(name, table, keys[1], windows[1], "TO NEXT ROW")
        for output in outputs:
            assert in_sase(name, table, "skip_till_next_match", keys[0], windows[0], output) == expected, f"{name}, seed {seed}, {output}"
        found += len(expected)
    assert found > 2
