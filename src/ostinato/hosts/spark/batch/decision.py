"""How a query over a batch DataFrame is divided among tasks, and why: what EXPLAIN shows."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame

from ostinato.hosts.spark.batch.time_groups import time_groups
from ostinato.hosts.spark.parallelism import parallelism
from ostinato.hosts.spark.run_options import BY_KEY, ONE, RANGES
from ostinato.hosts.spark.types import as_on_spark
from ostinato.program.analysis.look_around import look_around
from ostinato.program.pattern import Pattern
from ostinato.tasks.division import Division, division_of
from ostinato.tasks.ranges.deferred_numbers import DeferredNumbers, numbers_matches
from ostinato.tasks.ranges.merged_totals import TASK_OUTPUT, task_program
from ostinato.tasks.ranges.range_job import RangeJob
from ostinato.tasks.ranges.range_task import is_chained
from ostinato.tasks.ranges.time_ranges import divide
from ostinato.tasks.ranges.window import window_of


@dataclass(frozen=True)
class Decision:
    """`job` is given for time ranges only."""

    path: str
    reasons: tuple[str, ...]
    job: RangeJob | None = None

    @property
    def text(self) -> str:
        return "\n".join([f"spark: {self.path}", *(f"  {reason}" for reason in self.reasons)])


def decide(frame: DataFrame, pattern: Pattern, input: pa.Schema, output: pa.Schema, path: str | None = None) -> Decision:
    """`path` forces one of the ways, for comparison; what is impossible stays impossible."""
    division = division_of(pattern)
    refusal = division.not_in_time if path in (None, RANGES) else f"{path} was asked for"
    if refusal is None:
        job_or_refusal = _plan_ranges(frame, pattern, division, input, output)
        if isinstance(job_or_refusal, RangeJob):
            return _ranges(job_or_refusal)
        refusal = job_or_refusal
    reasons = (f"not {RANGES}: {refusal}",)
    if division.keys and path != ONE:
        return Decision(BY_KEY, (f"shuffled by {', '.join(division.keys)} and sorted", *reasons))
    return Decision(ONE, (*reasons, f"not {BY_KEY}: {division.not_by_key or f'{path} was asked for'}"))


def _plan_ranges(frame: DataFrame, pattern: Pattern, division: Division, input: pa.Schema, output: pa.Schema) -> RangeJob | str:
    groups = time_groups(frame, pattern.reads, input)
    if isinstance(groups, str):
        return groups
    divided = divide(groups, window_of(pattern), division.look_back, parallelism(frame.sparkSession))
    if pattern.output == "aggregates":
        pattern, output = task_program(pattern), TASK_OUTPUT
    elif numbers_matches(pattern) and len(divided.ranges) > 1:
        parts = DeferredNumbers(pattern)
        pattern, output = parts.task_program, as_on_spark(parts.task_output)
    return RangeJob(pattern, input, output, tuple(groups), divided.ranges)


def _ranges(job: RangeJob) -> Decision:
    ranges = _counted(len(job.ranges), "range")
    reasons = [f"{ranges} over {_counted(len(job.groups), 'row group')}, tasks read the files, no shuffle"]
    if is_chained(job.pattern):
        reasons.append("the chain of non-overlapping matches is found again at each border")
    if job.pattern.leads:
        reasons.append("a window is read before each range, for what must not come before a match")
    if job.back:
        reasons.append(f"{_counted(job.back, 'row')} per key read before each range")
    if look_around(job.pattern).after:
        reasons.append(f"up to {_counted(job.pattern.look_ahead, 'row')} per key read behind each range and its window, for NEXT")
    if job.pattern.output == "aggregates":
        reasons.append("each task aggregates the matches of its range, one puts the results together")
    elif job.is_placed:
        reasons.append("matches are numbered at the end (MATCH_NUMBER): they are shuffled, the rows are not")
    return Decision(RANGES, tuple(reasons), job)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
