"""Queries over small Parquet files in time ranges, without Spark, beside one pass over all rows."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.conformance.task_engines import numbered

from ostinato.archive.row_groups import list_row_groups
from ostinato.compiler import compile
from ostinato.hosts.spark.types import as_on_spark
from ostinato.tasks.conform import conform
from ostinato.tasks.division import division_of
from ostinato.tasks.ranges.deferred_numbers import DeferredNumbers, numbers_matches
from ostinato.tasks.ranges.match_places import placed
from ostinato.tasks.ranges.range_job import RangeJob
from ostinato.tasks.ranges.range_task import run_range
from ostinato.tasks.ranges.time_ranges import TimeRange
from ostinato.tasks.worker import run


def ticks(rows: int, keys: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.integers(0, 3, rows)) * 1_000_000
    names = [None if n == keys else f"schlüssel {n}" for n in rng.integers(0, keys + 1, rows)]
    values = pa.array(rng.integers(0, 6, rows), mask=rng.random(rows) < 0.03)
    return pa.table({"ts": pa.array(times, pa.timestamp("us", "UTC")), "k": pa.array(names, pa.string()), "v": values})


def job(text: str, table: pa.Table, folder: Path, borders: list[int], group: int, **options) -> RangeJob:
    query = compile(text, {"ticks": table.schema}, **options)
    assert division_of(query.pattern).not_in_time is None
    path = folder / "ticks.parquet"
    pq.write_table(table, path, row_group_size=group)
    schema = pa.schema([table.schema.field(column.name) for column in query.pattern.reads.columns])
    edges = [None, *borders, None]
    ranges = tuple(TimeRange(low, high) for low, high in zip(edges[:-1], edges[1:]))
    groups = tuple(group.bounded for group in list_row_groups([str(path)], "ts"))
    made = RangeJob(query.pattern, schema, query.output_schema, groups, ranges)
    return RangeJob.loads(made.dumps())


def in_parts(made: RangeJob) -> list[pa.Table]:
    """The matches of all ranges. Numbers are given as Spark gives them."""
    if not numbers_matches(made.pattern):
        return [table for one in made.ranges for table in run_range(made, one)]
    parts = DeferredNumbers(made.pattern)
    job = RangeJob.loads(replace(made, pattern=parts.task_program, output=as_on_spark(parts.task_output)).dumps())
    found = [table for n, one in enumerate(job.ranges) for table in placed(run_range(job, one), n)]
    matches = conform(pa.concat_tables(found), job.output) if found else job.output.empty_table()
    return [numbered(matches, parts)]


def bag(tables: list[pa.Table], made: RangeJob) -> list[str]:
    found = [conform(table, made.output) for table in tables]
    return sorted(str([value for name, value in row.items() if name != "match_id"]) for table in found for row in table.to_pylist())


def without_seq(lines: list[str]) -> list[str]:
    """The place of an event counts from the beginning of what a session has seen."""
    return [re.sub(r"'seq': \d+", "", line) for line in lines]


def check(made: RangeJob) -> int:
    whole = bag(list(run(made.pattern, made.rows.between(None, None))), made)
    parts = bag(in_parts(made), made)
    assert without_seq(parts) == without_seq(whole)
    return len(whole)
