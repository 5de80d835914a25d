"""Time ranges find exactly what one pass finds, wherever the borders fall. No Spark is needed for that."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.hosts.spark.range_jobs import check, job, ticks

from ostinato.compiler import compile
from ostinato.program.analysis.look_around import look_around
from ostinato.tasks.division import division_of
from ostinato.tasks.ranges.deferred_numbers import DeferredNumbers, numbers_matches

CLAUSE = """SELECT * FROM ticks MATCH_RECOGNIZE (
  {partition} ORDER BY ts
  MEASURES FIRST(ts) AS first_ts, LAST(ts) AS last_ts, COUNT(*) AS n, SUM(v) AS total, LAST(k) AS k_last
  ONE ROW PER MATCH AFTER MATCH SKIP {skip} PATTERN ({pattern}) WITHIN INTERVAL '{seconds}' SECOND DEFINE {define})"""
PATTERNS = {
    "v shape": ("A B+ C+", "B AS v < PREV(v), C AS v > PREV(v)"),
    "looks before its first row": ("A B", "A AS v < PREV(v, 2), B AS v >= PREV(v)"),
    "parity": ("A B", "A AS v >= 0"),
    "dynamic": ("A B+ C", "B AS v > A.v, C AS v < A.v"),
    "looks inside itself": ("A B", "A AS v > NEXT(v)"),
    "looks behind its last row": ("A B+", "B AS v < NEXT(v)"),
    "looks far both ways": ("A B", "A AS v < PREV(v, 2), B AS v >= NEXT(v, 3)"),
    "dynamic with a look behind": ("A B+ C", "B AS v > A.v, C AS v + NEXT(v) < 2 * A.v"),
}
SASE = {
    "next": "PATTERN SEQ(Ticks a, Ticks+ b[], Ticks c) WHERE skip_till_next_match(a, b[], c) "
    "{ [k] AND b[i].v > a.v AND c.v < a.v } WITHIN 9 seconds",
    "any": "PATTERN SEQ(Ticks a, Ticks b) WHERE skip_till_any_match(a, b) { [k] AND b.v > a.v } WITHIN 3 seconds",
    "strict": "PATTERN SEQ(Ticks a, Ticks b) WHERE strict_contiguity(a, b) { b.v > a.v } WITHIN 9 seconds",
    "nothing before": "PATTERN SEQ(~(Ticks x), Ticks a, Ticks b) WHERE skip_till_any_match(x, a, b) "
    "{ [k] AND x.v = 5 AND b.v > a.v } WITHIN 6 seconds",
    "nothing behind": "PATTERN SEQ(Ticks a, ~(Ticks x), Ticks b, ~(Ticks y)) WHERE skip_till_next_match(a, x, b, y) "
    "{ [k] AND x.v = 5 AND b.v > a.v AND y.v > b.v } WITHIN 9 seconds",
    "nothing before, strict": "PATTERN SEQ(~(SEQ(Ticks x, Ticks y)), Ticks a, Ticks b) WHERE strict_contiguity(x, y, a, b) "
    "{ [k] AND y.v > x.v AND b.v > a.v } WITHIN 9 seconds",
}


@pytest.mark.every_pair
@pytest.mark.parametrize("skip", ["PAST LAST ROW", "TO NEXT ROW"])
@pytest.mark.parametrize("partition", ["", "PARTITION BY k"])
@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("seconds", [2, 15])
def test_clause(name: str, partition: str, skip: str, seconds: int, tmp_path: Path) -> None:
    pattern, define = PATTERNS[name]
    text = CLAUSE.format(partition=partition, skip=skip, pattern=pattern, define=define, seconds=seconds)
    rng = np.random.default_rng(len(name) + seconds)
    found = 0
    for seed in range(3):
        table = ticks(400, 4, seed)
        borders = sorted({int(b) * 1_000_000 for b in rng.integers(1, 400, 4)})
        found += check(job(text, table, tmp_path, borders, group=int(rng.integers(7, 90))))
    assert found


@pytest.mark.parametrize("skip", ["PAST LAST ROW", "TO NEXT ROW"])
@pytest.mark.parametrize("partition", ["", "PARTITION BY k"])
def test_a_measure_that_looks_behind_the_match(partition: str, skip: str, tmp_path: Path) -> None:
    text = CLAUSE.format(partition=partition, skip=skip, pattern="A B", define="B AS v > A.v", seconds=4)
    text = text.replace("LAST(k) AS k_last", "NEXT(LAST(v), 2) AS soon, PREV(FIRST(v)) AS just_before")
    rare = pa.table({"ts": pa.array([3, 5, 380], pa.int64()), "k": ["rare", "rare", "rare"], "v": [1, 2, 3]})
    often = ticks(300, 3, 7).set_column(0, "ts", pa.array(np.arange(300) // 2))
    table = pa.concat_tables([often, rare]).sort_by("ts")
    made = job(text.replace("INTERVAL '4' SECOND", "4"), table, tmp_path, [4, 5, 6, 60, 61, 140, 149], 11)
    assert check(made) > 50


@pytest.mark.parametrize("skip", ["PAST LAST ROW", "TO NEXT ROW"])
@pytest.mark.parametrize("partition", ["", "PARTITION BY k"])
def test_all_rows_of_matches(partition: str, skip: str, tmp_path: Path) -> None:
    """A row belongs to the range in which its match starts."""
    text = CLAUSE.format(partition=partition, skip=skip, pattern="A {- B+ -} C+", define="B AS v < PREV(v), C AS v > PREV(v)", seconds=9)
    text = text.replace("ONE ROW", "ALL ROWS").replace("LAST(k) AS k_last", "FINAL COUNT(*) AS whole, ARRAY_AGG(v) AS so_far")
    assert check(job(text, ticks(400, 4, 1), tmp_path, [20_000_000, 21_000_000, 90_000_000, 250_000_000], 31)) > 50


@pytest.mark.parametrize(
    ("rows", "measure", "reason"),
    [
        ("ALL ROWS PER MATCH WITH UNMATCHED ROWS", "COUNT(*)", "WITH UNMATCHED ROWS"),
        ("ALL ROWS PER MATCH", "MATCH_NUMBER()", "MATCH_NUMBER"),
        ("ONE ROW PER MATCH", "SUM(MATCH_NUMBER())", "MATCH_NUMBER"),
        ("ONE ROW PER MATCH AFTER MATCH SKIP TO LAST B", "COUNT(*)", "SKIP TO a variable"),
    ],
)
def test_rows_that_only_a_whole_pass_knows(rows: str, measure: str, reason: str) -> None:
    text = CLAUSE.format(partition="", skip="PAST LAST ROW", pattern="A B", define="A AS v > 1", seconds=9)
    text = text.replace("ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW", rows).replace("COUNT(*)", measure)
    assert reason in division_of(compile(text, {"ticks": ticks(1, 1, 0).schema}).pattern).not_in_time


NUMBERS = {
    "alone": "MATCH_NUMBER() AS number",
    "twice, and in expressions": "MATCH_NUMBER() AS number, MATCH_NUMBER() AS again, MATCH_NUMBER() * 10 + LAST(v) AS sum, "
    "CASE WHEN MATCH_NUMBER() > 2 THEN CLASSIFIER() || k END AS text, AVG(v) / MATCH_NUMBER() AS mean, LAST(ts) AS last_ts",
    "alone in an expression": "-MATCH_NUMBER() AS number",
}


@pytest.mark.every_pair
@pytest.mark.parametrize("skip", ["PAST LAST ROW", "TO NEXT ROW"])
@pytest.mark.parametrize("partition", ["", "PARTITION BY k"])
@pytest.mark.parametrize("measures", NUMBERS)
def test_match_numbers(measures: str, partition: str, skip: str, tmp_path: Path) -> None:
    pattern, define = PATTERNS["looks far both ways"]
    text = CLAUSE.format(partition=partition, skip=skip, pattern=pattern, define=define, seconds=15)
    text = text.replace("FIRST(ts) AS first_ts, LAST(ts) AS last_ts", NUMBERS[measures])
    found = 0
    for seed, borders in enumerate(([100, 101, 500], [-5, 0, 1, 2, 3], [50, 100, 150, 200, 250, 300, 350])):
        made = job(text, ticks(400, 4, seed), tmp_path, [1_000_000 * border for border in borders], 23)
        assert not numbers_matches(DeferredNumbers(made.pattern).task_program)
        found += check(made)
    assert found > 20


@pytest.mark.parametrize("partition", ["", "PARTITION BY k"])
@pytest.mark.parametrize("name", PATTERNS)
def test_days(name: str, partition: str, tmp_path: Path) -> None:
    pattern, define = PATTERNS[name]
    text = CLAUSE.format(partition=partition, skip="PAST LAST ROW", pattern=pattern, define=define, seconds=4).replace("SECOND", "DAY")
    days = ticks(400, 4, 3)
    days = days.set_column(0, "ts", pa.array(np.arange(400, dtype=np.int32) // 7 - 20, pa.int32()).cast(pa.date32()))
    assert check(job(text, days, tmp_path, [-20, -19, -7, 0, 3, 30], 45))


BOTH = ("next", "strict", "nothing behind", "nothing before, strict")
APART = {
    "apart, a list": "PATTERN SEQ(Ticks a, Ticks+ b[], Ticks c) WHERE skip_till_next_match(a, b[], c) "
    "{ [k] AND b[i].v > a.v AND c.v < a.v } WITHIN 12 seconds",
    "apart, a later start ends earlier": "PATTERN SEQ(Ticks a, Ticks b, Ticks c) WHERE skip_till_next_match(a, b, c) "
    "{ b.v = a.v AND c.v = a.v + 1 } WITHIN 12 seconds",
    "apart, all rows": "PATTERN SEQ(Ticks a, Ticks b) WHERE partition_contiguity(a, b) { [k] } WITHIN 12 seconds",
    "apart, few rows": "PATTERN SEQ(Ticks a, Ticks b) WHERE skip_till_next_match(a, b) { [k] AND a.v = 1 AND b.v = 2 } WITHIN 9 seconds",
    "apart, one row after the other": "PATTERN SEQ(Ticks a, Ticks+ b[]) WHERE strict_contiguity(a, b[]) { b[i].v > a.v } WITHIN 5 seconds",
    "apart, a gap": "PATTERN SEQ(Ticks a, ~(Ticks x), Ticks b) WHERE skip_till_next_match(a, x, b) "
    "{ [k] AND x.v = 5 AND b.v > a.v } WITHIN 9 seconds",
}


@pytest.mark.parametrize("strategy", [None, "runs"])
@pytest.mark.parametrize("name", APART)
def test_matches_that_do_not_overlap(name: str, strategy: str | None, tmp_path: Path) -> None:
    found = 0
    for seed, borders in enumerate(([50, 51, 200], [-3, 0, 2, 4, 6, 8], [30, 60, 90, 120, 150, 180, 210, 240, 999])):
        borders = [1_000_000 * border for border in borders]
        found += check(job(APART[name], ticks(300, 3, seed), tmp_path, borders, 17, output="nonoverlapping", strategy=strategy))
    assert found > 20


def test_why_chains_are_not_followed() -> None:
    schema = {"ticks": ticks(1, 1, 0).schema}
    refusals = {"any": "skip till any match", "nothing before": "skip till any match", "nothing behind": "a negation at the end"}
    for name, reason in refusals.items():
        assert reason in division_of(compile(SASE[name], schema, output="nonoverlapping").pattern).not_in_time
    strict = APART["apart, a gap"].replace("skip_till_next_match", "strict_contiguity")
    assert "rows of all keys" in division_of(compile(strict, schema, output="nonoverlapping").pattern).not_in_time


OUTPUTS = [*((name, "all") for name in SASE), *((name, "first") for name in BOTH)]


@pytest.mark.parametrize(("name", "output"), OUTPUTS)
def test_event_pattern(name: str, output: str, tmp_path: Path) -> None:
    assert check(job(SASE[name], ticks(300, 3, 1), tmp_path, [50_000_000, 51_000_000, 200_000_000], 40, output=output))


def test_reach_counts_only_rows_that_the_match_has_not() -> None:
    schema = {"ticks": ticks(1, 1, 0).schema}
    reached = {}
    for name, (pattern, define) in PATTERNS.items():
        text = CLAUSE.format(partition="", skip="TO NEXT ROW", pattern=pattern, define=define, seconds=1)
        pattern = compile(text, schema).pattern
        reached[name] = look_around(pattern).before, look_around(pattern).after
    assert reached == {
        "v shape": (0, 0),
        "looks before its first row": (2, 0),
        "parity": (0, 0),
        "dynamic": (0, 0),
        "looks inside itself": (0, 0),
        "looks behind its last row": (0, 1),
        "looks far both ways": (2, 3),
        "dynamic with a look behind": (0, 1),
    }
