"""A set of queries over Parquet files in order of time: tasks read row groups by ranges of time, each of them for all queries at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import DataFrame

from ostinato.hosts.spark.batch.time_groups import time_groups
from ostinato.hosts.spark.parallelism import parallelism
from ostinato.hosts.spark.ship_program import shipped
from ostinato.hosts.spark.types import to_spark_schema
from ostinato.hosts.spark.work import Work
from ostinato.program.query_graphs import NO_QUERIES
from ostinato.runtime.limits.budget import Budget
from ostinato.tasks.conform import batches_of
from ostinato.tasks.keyed_pass import Failed
from ostinato.tasks.ranges.set_job import SetJob
from ostinato.tasks.ranges.set_task import run_set_range
from ostinato.tasks.ranges.time_ranges import divide
from ostinato.tasks.set_division import look_back_of, why_not_in_time, window_of
from ostinato.tasks.set_output import as_one_table, errors_table
from ostinato.tasks.worker_memory import keep_freed_memory


def plan_set(frame: DataFrame, work: Work, input: pa.Schema, budget: Budget) -> SetJob | str:
    """What tasks are to do; or why the rows are not cut in time."""
    refusal = why_not_in_time(work.program)
    if refusal is not None:
        return refusal
    groups = time_groups(frame, work.reads, input)
    if isinstance(groups, str):
        return groups
    window = window_of(work.program)
    divided = divide(groups, window, look_back_of(work.program), parallelism(frame.sparkSession))
    return SetJob(work.program, work.reads, input, tuple(groups), divided.ranges, window, budget, work.quarantines)


def match_set(frame: DataFrame, job: SetJob, output: pa.Schema) -> DataFrame:
    program, plan = shipped(job.program), replace(job, program=NO_QUERIES)  # which travels by itself, with functions of users

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        keep_freed_memory()
        own = replace(plan, program=program.load())
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from _matches(own, number, output)

    count = len(job.ranges)
    return frame.sparkSession.range(0, count, 1, count).mapInArrow(read, to_spark_schema(output))


def _matches(job: SetJob, number: int, output: pa.Schema) -> Iterator[pa.RecordBatch]:
    counted = 0
    failed: Failed | None = {} if job.quarantines else None
    for found in run_set_range(job, job.ranges[number], failed):
        yield from batches_of(as_one_table(found, job.program, output, number, counted), output)
        counted += sum(table.num_rows for table in found.values())
    if failed:
        yield from batches_of(errors_table(failed, output), output)
