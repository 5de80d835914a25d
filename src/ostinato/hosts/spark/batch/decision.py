"""How a query over a batch DataFrame is divided among tasks, and why: what EXPLAIN shows."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame

from ostinato.archive.row_groups import list_row_groups
from ostinato.expr.typing.types import Kind
from ostinato.hosts.spark.batch.bounds_job import with_bounds
from ostinato.hosts.spark.batch.parquet_scan import holds_columns, scanned_files
from ostinato.hosts.spark.parallelism import parallelism
from ostinato.hosts.spark.types import as_on_spark
from ostinato.program.code_inputs import aggregates_numbers
from ostinato.program.pattern import EventPattern, Pattern, RowPattern
from ostinato.tasks.merged_totals import TASK_OUTPUT, task_program
from ostinato.tasks.ranges.late_numbers import LateNumbers, numbers_matches
from ostinato.tasks.ranges.match_reach import maps_no_row, reach_ahead, reach_back
from ostinato.tasks.ranges.own_starts import can_limit_starts
from ostinato.tasks.ranges.range_job import RangeJob
from ostinato.tasks.ranges.range_task import is_chained, looks_before
from ostinato.tasks.ranges.time_ranges import cut, overlap_widely

RANGES, BY_KEY, ONE = "time ranges", "by key", "one partition"
PATHS = (RANGES, BY_KEY, ONE)


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
    refusal = why_no_ranges(pattern) if path in (None, RANGES) else f"{path} was asked for"
    if refusal is None:
        job_or_refusal = _plan_ranges(frame, pattern, input, output)
        if isinstance(job_or_refusal, RangeJob):
            return _ranges(job_or_refusal)
        refusal = job_or_refusal
    reasons = (f"not {RANGES}: {refusal}",)
    why_not_keyed = why_no_keys(pattern)
    if why_not_keyed is None and path != ONE:
        names = ", ".join(pattern.reads.columns[k].name for k in pattern.reads.keys)
        return Decision(BY_KEY, (f"shuffled by {names} and sorted", *reasons))
    return Decision(ONE, (*reasons, f"not {BY_KEY}: {why_not_keyed or f'{path} was asked for'}"))


def why_no_ranges(pattern: Pattern) -> str | None:
    """What in the query itself forbids to cut the data in time."""
    if pattern.within < 0 or pattern.within_unit != "time":
        return "the pattern has no WITHIN that bounds it in time"
    if pattern.reads.columns[pattern.reads.time].type.kind not in (Kind.TIMESTAMP, Kind.DATE, Kind.INT) or pattern.reads.order[0][1]:
        return "rows are not in ascending order of a timestamp, date or integer"
    if isinstance(pattern, RowPattern) and pattern.skip_to >= 0:
        return "where the search goes on depends on all matches before (AFTER MATCH SKIP TO a variable)"
    if any(register.number for register in pattern.registers):
        return "a condition looks at the number of the match, which counts all before (MATCH_NUMBER)"
    if pattern.output in ("aggregates", "compressed") and not can_limit_starts(pattern):
        return f"{pattern.output}: an event that starts a match of this pattern can also come later in one"
    if isinstance(pattern, EventPattern) and pattern.output == "nonoverlapping" and (reason := _why_chains_are_not_followed(pattern)):
        return f"which matches overlap is known only when all earlier ones are, and {reason}"
    if maps_no_row(pattern):
        return "the pattern has empty matches, which have no time"
    if pattern.timeouts or pattern.output == "timeouts":
        return "partial matches that their window ended are known where every start is (timeouts)"
    if pattern.rows_per_match == "all, with unmatched rows":
        return "rows of no match have no start by which they belong to a range (WITH UNMATCHED ROWS)"
    if pattern.rows_per_match != "one" and numbers_matches(pattern):
        return "every row of a match shows its number, which counts all before (MATCH_NUMBER)"
    if aggregates_numbers(pattern.measures):
        return "an aggregate is over the numbers of matches, which count all before (MATCH_NUMBER)"
    if isinstance(pattern, RowPattern) and (pattern.nfa.looks_at_start or pattern.nfa.looks_at_end):
        return "the pattern asks where a partition begins or ends (^ or $)"
    if pattern.output == "count" and reach_back(pattern) and not can_limit_starts(pattern):
        return "a count cannot leave out the matches that begin in the rows before a range"
    return None


def _why_chains_are_not_followed(pattern: EventPattern) -> str | None:
    """Why all matches before a border are not looked at, or not to be cut behind the last that is reported."""
    if pattern.selection == "skip_till_any_match":
        return "there may be very many under skip till any match"
    if pattern.reads.keys and not pattern.is_keyed:
        return "strict contiguity looks at the rows of all keys"
    if any(negation.leads or negation.trails for negation in pattern.negations):
        return "a negation at the end of the pattern looks beyond them"
    return None


def why_no_keys(pattern: Pattern) -> str | None:
    if not pattern.reads.keys:
        return "the pattern has no partition key"
    if pattern.output == "aggregates":
        return "aggregates over all matches are evaluated in one place"
    if not pattern.is_keyed:
        return "strict contiguity looks at the rows of all keys"
    return None


def _plan_ranges(frame: DataFrame, pattern: Pattern, input: pa.Schema, output: pa.Schema) -> RangeJob | str:
    files = scanned_files(frame)
    if files is None:
        return "the DataFrame is not a plain scan of Parquet files"
    spark = frame.sparkSession
    time = pattern.reads.columns[pattern.reads.time].name
    listed = list_row_groups(files, time, lambda opened, file: holds_columns(opened, input, file))
    if listed is None:
        return "the files do not hold all columns in the types that Spark shows"
    groups = with_bounds(spark, listed, pattern)
    if not groups:
        return "the files have no rows"
    if overlap_widely(groups):
        return "the row groups overlap widely in time"
    divided = cut(groups, pattern.within, _look_back(pattern), parallelism(spark))
    if pattern.output == "aggregates":
        pattern, output = task_program(pattern), TASK_OUTPUT
    elif numbers_matches(pattern) and len(divided.ranges) > 1:
        parts = LateNumbers(pattern)
        pattern, output = parts.task_program, as_on_spark(parts.task_output)
    return RangeJob(pattern, input, output, tuple(groups), divided.ranges)


def _look_back(pattern: Pattern) -> int:
    if is_chained(pattern):
        return 2 * pattern.within
    return pattern.within if looks_before(pattern) else 0


def _ranges(job: RangeJob) -> Decision:
    ranges = _counted(len(job.ranges), "range")
    reasons = [f"{ranges} over {_counted(len(job.groups), 'row group')}, tasks read the files, no shuffle"]
    if is_chained(job.pattern):
        reasons.append("the chain of non-overlapping matches is found again at each border")
    if looks_before(job.pattern):
        reasons.append("a window is read before each range, for what must not come before a match")
    if job.back:
        reasons.append(f"{_counted(job.back, 'row')} per key read before each range")
    if reach_ahead(job.pattern):
        reasons.append(f"up to {_counted(job.pattern.look_ahead, 'row')} per key read behind each range and its window, for NEXT")
    if job.pattern.output == "aggregates":
        reasons.append("each task aggregates the matches of its range, one puts the results together")
    elif job.is_placed:
        reasons.append("matches are numbered at the end (MATCH_NUMBER): they are shuffled, the rows are not")
    return Decision(RANGES, tuple(reasons), job)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
