"""What is reported about all matches together, over time ranges: counts, aggregates, compressed matches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from tests.unit.hosts.spark.range_jobs import job, ticks
from tests.unit.hosts.spark.test_ranges_equal_whole import SASE

import ostinato as ost
from ostinato.compiler import compile
from ostinato.tasks.division import division_of
from ostinato.tasks.ranges.match_places import placed
from ostinato.tasks.ranges.merged_totals import TASK_OUTPUT, merged, task_program
from ostinato.tasks.ranges.own_starts import can_limit_starts
from ostinato.tasks.ranges.range_job import RangeJob
from ostinato.tasks.ranges.range_task import run_range
from ostinato.tasks.worker import run

BORDERS = [-1_000_000, 50_000_000, 51_000_000, 200_000_000, 900_000_000]
MORE = {
    "list": "PATTERN SEQ(Ticks+ a[], Ticks b) WHERE skip_till_any_match(a[], b) { [k] AND a[i].v > 3 AND b.v < 1 } WITHIN 9 seconds",
    "list of few": "PATTERN SEQ(Ticks+ a[], Ticks b) WHERE skip_till_next_match(a[], b) { a[i].v > 3 AND b.v < 1 } WITHIN 5 seconds",
    "begins with either": "PATTERN SEQ((Ticks a | Ticks b), Ticks c) WHERE skip_till_any_match(a, b, c) "
    "{ [k] AND a.v = 1 AND b.v = 4 AND c.v = 5 } WITHIN 8 seconds",
    "may begin later": "PATTERN SEQ(Ticks? a, Ticks b) WHERE skip_till_any_match(a, b) { [k] AND a.v = 1 AND b.v > 3 } WITHIN 6 seconds",
}
QUERIES = SASE | MORE


@pytest.mark.parametrize("strategy", [None, "runs"])
@pytest.mark.parametrize("name", QUERIES)
def test_count(name: str, strategy: str | None, tmp_path: Path) -> None:
    made = job(QUERIES[name], ticks(300, 3, 2), tmp_path, BORDERS, 40, output="count", strategy=strategy)
    assert counted(made) == sum(sum(table.column("count").to_pylist()) for table in run(made.pattern, made.rows.between(None, None))) > 0


def counted(made: RangeJob) -> int:
    return sum(sum(table.column("count").to_pylist()) for one in made.ranges for table in run_range(made, one))


@pytest.mark.parametrize("strategy", [None, "runs", "backtrack"])
@pytest.mark.parametrize("name", [name for name in QUERIES if name != "may begin later"])
def test_aggregates(name: str, strategy: str | None, tmp_path: Path) -> None:
    text = QUERIES[name].replace("b[]", "b[ ]")
    a, b = ("a[].v" if "+ a[]" in text else "a.v"), ("b[].v" if "+ b[" in text else "b.v")
    times = ", max(a.ts) AS late" if a == "a.v" else ""
    text += f" RETURN count(*) AS n, count({a}) AS some, sum({b}) AS total, avg({a}) AS mean, min({b}) - max({a}) AS low{times}"
    if strategy == "backtrack" and "~" in text:
        strategy = "runs"
    made = job(text, ticks(300, 3, 2), tmp_path, BORDERS, 40, output="aggregates", strategy=strategy)
    (whole,) = run(made.pattern, made.rows.between(None, None))
    tasks = RangeJob.loads(replace(made, pattern=task_program(made.pattern), output=TASK_OUTPUT).dumps())
    parts = [table for number, one in enumerate(tasks.ranges) for table in placed(run_range(tasks, one), number)]
    found = merged(pa.concat_tables(parts[::-1]), made.pattern)
    assert found.to_pylist() == [{**row, "mean": pytest.approx(row["mean"])} for row in whole.to_pylist()]
    assert whole.column("n").to_pylist()[0] > 0


def test_aggregates_of_nothing(tmp_path: Path) -> None:
    text = SASE["any"].replace("b.v > a.v", "b.v > 100") + " RETURN count(*) AS n, sum(b.v) AS total, max(b.k) AS k"
    made = job(text, ticks(50, 3, 2), tmp_path, BORDERS, 40, output="aggregates")
    tasks = replace(made, pattern=task_program(made.pattern), output=TASK_OUTPUT)
    parts = [table for number, one in enumerate(tasks.ranges) for table in placed(run_range(tasks, one), number)]
    assert merged(pa.concat_tables(parts), made.pattern).to_pylist() == [{"n": 0, "total": None, "k": None}]


@pytest.mark.parametrize("strategy", [None, "runs"])
@pytest.mark.parametrize("name", [name for name in QUERIES if name != "may begin later"])
def test_compressed(name: str, strategy: str | None, tmp_path: Path) -> None:
    made = job(QUERIES[name], ticks(300, 3, 2), tmp_path, BORDERS, 40, output="compressed", strategy=strategy)
    whole = listed(list(run(made.pattern, made.rows.between(None, None))))
    assert listed([table for one in made.ranges for table in run_range(made, one)]) == whole
    assert whole


def listed(tables: list[pa.Table]) -> list[str]:
    events = [row for table in tables for row in ost.decode(table)]
    return sorted(str([_without_seq(value) for name, value in row.items() if name != "match_id"]) for row in events)


def _without_seq(value: object) -> object:
    if isinstance(value, list):
        return [_without_seq(one) for one in value]
    return {name: own for name, own in value.items() if name != "seq"} if isinstance(value, dict) else value


@pytest.mark.parametrize("output", ["aggregates", "compressed"])
def test_starts_that_cannot_be_told_are_refused(output: str) -> None:
    text = MORE["may begin later"] + (" RETURN count(*) AS n" if output == "aggregates" else "")
    pattern = compile(text, {"ticks": ticks(1, 1, 0).schema}, output=output).pattern
    assert not can_limit_starts(pattern)
    assert "can also come later" in division_of(pattern).not_in_time
