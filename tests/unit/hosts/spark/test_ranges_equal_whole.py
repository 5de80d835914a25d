"""Time ranges find exactly what one pass finds, wherever the borders fall. No Spark is needed for that."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ostinato.compiler import compile
from ostinato.hosts.spark.batch.decision import why_no_ranges
from ostinato.hosts.spark.batch.late_numbers import NUMBER, OWN, LateNumbers, numbers_matches
from ostinato.hosts.spark.batch.match_places import PLACE, placed
from ostinato.hosts.spark.batch.match_reach import reach_ahead, reach_back
from ostinato.hosts.spark.batch.range_job import RangeJob
from ostinato.hosts.spark.batch.range_task import run_range
from ostinato.hosts.spark.batch.row_groups import list_row_groups
from ostinato.hosts.spark.batch.time_ranges import TimeRange
from ostinato.hosts.spark.conform import conform
from ostinato.hosts.spark.worker import run

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


def ticks(rows: int, keys: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.integers(0, 3, rows)) * 1_000_000
    names = [None if n == keys else f"schlüssel {n}" for n in rng.integers(0, keys + 1, rows)]
    values = pa.array(rng.integers(0, 6, rows), mask=rng.random(rows) < 0.03)
    return pa.table({"ts": pa.array(times, pa.timestamp("us", "UTC")), "k": pa.array(names, pa.string()), "v": values})


def job(text: str, table: pa.Table, folder: Path, borders: list[int], group: int, **options) -> RangeJob:
    query = compile(text, {"ticks": table.schema}, **options)
    assert why_no_ranges(query.program) is None
    path = folder / "ticks.parquet"
    pq.write_table(table, path, row_group_size=group)
    schema = pa.schema([table.schema.field(column.name) for column in query.program.columns])
    edges = [None, *borders, None]
    ranges = tuple(TimeRange(low, high) for low, high in zip(edges[:-1], edges[1:]))
    groups = tuple(list_row_groups([str(path)], "ts"))
    made = RangeJob(query.program, schema, query.output_schema, groups, ranges)
    return RangeJob.loads(made.dumps())


def in_parts(made: RangeJob) -> list[pa.Table]:
    """The matches of all ranges. Numbers are given as Spark gives them."""
    if not numbers_matches(made.program):
        return [table for one in made.ranges for table in run_range(made, one)]
    parts = LateNumbers(made.program)
    job = RangeJob.loads(replace(made, program=parts.task_program, output=parts.task_output).dumps())
    found = [table for n, one in enumerate(job.ranges) for table in placed(run_range(job, one), n)]
    matches = conform(pa.concat_tables(found), job.output).sort_by(PLACE) if found else job.output.empty_table()
    counts: Counter = Counter()
    numbers = []
    for row in matches.select(parts.keys).to_pylist() if parts.keys else [{}] * matches.num_rows:
        counts[tuple(row.values())] += 1
        numbers.append(counts[tuple(row.values())])
    return [parts.completed(matches.append_column(OWN + NUMBER, pa.array(numbers, pa.int64())))]


def bag(tables: list[pa.Table], made: RangeJob) -> list[str]:
    found = [conform(table, made.output) for table in tables]
    return sorted(str([value for name, value in row.items() if name != "match_id"]) for table in found for row in table.to_pylist())


def without_seq(lines: list[str]) -> list[str]:
    """The place of an event counts from the beginning of what a session has seen."""
    return [re.sub(r"'seq': \d+", "", line) for line in lines]


def check(made: RangeJob) -> int:
    whole = bag(list(run(made.program, made.rows.between(None, None))), made)
    parts = bag(in_parts(made), made)
    assert without_seq(parts) == without_seq(whole)
    return len(whole)


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


NUMBERS = {
    "alone": "MATCH_NUMBER() AS number",
    "twice, and in expressions": "MATCH_NUMBER() AS number, MATCH_NUMBER() AS again, MATCH_NUMBER() * 10 + LAST(v) AS sum, "
    "CASE WHEN MATCH_NUMBER() > 2 THEN CLASSIFIER() || k END AS text, AVG(v) / MATCH_NUMBER() AS mean, LAST(ts) AS last_ts",
    "alone in an expression": "-MATCH_NUMBER() AS number",
}


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
        assert not numbers_matches(LateNumbers(made.program).task_program)
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
OUTPUTS = [*((name, "all") for name in SASE), *((name, "first") for name in BOTH)]


@pytest.mark.parametrize(("name", "output"), OUTPUTS)
def test_event_pattern(name: str, output: str, tmp_path: Path) -> None:
    assert check(job(SASE[name], ticks(300, 3, 1), tmp_path, [50_000_000, 51_000_000, 200_000_000], 40, output=output))


@pytest.mark.parametrize("name", SASE)
def test_count(name: str, tmp_path: Path) -> None:
    made = job(SASE[name], ticks(300, 3, 2), tmp_path, [50_000_000, 51_000_000, 200_000_000], 40, output="count")
    whole = [table.column("count").to_pylist() for table in run(made.program, made.rows.between(None, None))]
    parts = [table.column("count").to_pylist() for one in made.ranges for table in run_range(made, one)]
    assert sum(sum(counts) for counts in parts) == sum(sum(counts) for counts in whole) > 0


def test_reach_counts_only_rows_that_the_match_has_not() -> None:
    schema = {"ticks": ticks(1, 1, 0).schema}
    reached = {}
    for name, (pattern, define) in PATTERNS.items():
        text = CLAUSE.format(partition="", skip="TO NEXT ROW", pattern=pattern, define=define, seconds=1)
        program = compile(text, schema).program
        reached[name] = reach_back(program), reach_ahead(program)
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
