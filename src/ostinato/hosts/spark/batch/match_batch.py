"""A query over a batch DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ostinato.base.errors import UnsupportedError
from ostinato.base.user_warning import warn_user
from ostinato.hosts.spark.batch.decision import Decision, decide
from ostinato.hosts.spark.batch.graph_frames import decide_graph, match_graph
from ostinato.hosts.spark.batch.number_matches import numbered
from ostinato.hosts.spark.batch.read_ranges import read_ranges
from ostinato.hosts.spark.batch.sorted_partitions import match_by_key, match_in_one_partition, with_partition_in_ids
from ostinato.hosts.spark.collations import check_collations
from ostinato.hosts.spark.merged_frame import batch_frame
from ostinato.hosts.spark.nested_columns import travelling, with_fields
from ostinato.hosts.spark.python_workers import check_workers
from ostinato.hosts.spark.run_options import BY_KEY, ONE, RunOptions
from ostinato.hosts.spark.ship_program import shipped
from ostinato.hosts.spark.stream_rows import source_columns
from ostinato.hosts.spark.types import to_arrow_schema, to_spark_schema
from ostinato.hosts.spark.work import Work
from ostinato.program.pattern import Pattern
from ostinato.program.program import alone
from ostinato.runtime.limits.budget import Budget, Overflow
from ostinato.runtime.session.session import Session
from ostinato.tasks.conform import batches_of
from ostinato.tasks.host_ids import has_ids
from ostinato.tasks.ranges.merged_totals import TASK_OUTPUT, merged


class OnePartitionWarning(UserWarning):
    """Nothing divides the pattern: one task does all the work."""


def decide_batch(frames: Sequence[DataFrame], work: Work, path: str | None = None) -> Decision:
    """`frames` are those of the streams of the work, in its order."""
    if work.is_composed:
        return decide_graph(work, path)
    frame = batch_frame(work, frames)
    return decide(frame, work.pattern, input_schema(frame, work), work.output, path)


def match_batch(frames: Sequence[DataFrame], work: Work, options: RunOptions) -> DataFrame:
    budget = checked_budget(options)
    check_workers(frames[0].sparkSession)
    decision = decide_batch(frames, work, options.path)
    if decision.path == ONE:
        text = f"one task matches all rows of {_named(work)}\n{decision.text}\n  {_advice(work)}"
        warn_user(OnePartitionWarning(text))
    if decision.job is not None:
        matches = read_ranges(frames[0].sparkSession, replace(decision.job, budget=budget))
        if work.pattern.output == "aggregates":
            return _merged(matches, work.pattern, work.output)
        if decision.job.is_placed:
            matches = numbered(matches, work.pattern, work.output)
    else:
        matches = _in_partitions(frames, work, decision.path, budget)
    if work.pattern.output == "aggregates":
        return _one_row(matches, work)
    return _summed(matches) if work.pattern.output == "count" else matches


def checked_budget(options: RunOptions) -> Budget:
    """What holds for batches alone."""
    options.refuse_late("by a batch, whose rows are all put in order first", "leave out late=")
    if options.tail_of is not None:
        raise UnsupportedError("tail_of= is for streams that have ended", hint="a batch has no tail: leave it out")
    budget = options.budget or Budget()
    if budget.overflow is Overflow.SHED_OLDEST:
        raise UnsupportedError(
            "a batch that sheds partial matches would leave out matches unseen",
            hint='use overflow="error", or the embedded engine or a stream, which count what they shed',
        )
    return budget


def _in_partitions(frames: Sequence[DataFrame], work: Work, path: str, budget: Budget) -> DataFrame:
    """Spark puts the rows where they belong, and in order."""
    if work.is_composed:
        matches = match_graph(frames, work, path, budget)
        return with_partition_in_ids(matches) if has_ids(work.pattern) else matches
    rows = prepared(batch_frame(work, frames), work)
    if path == BY_KEY:
        return match_by_key(rows, work.pattern, work.output, budget)
    assert path == ONE
    return match_in_one_partition(rows, work.pattern, work.output, budget)


def _named(work: Work) -> str:
    return ", ".join(repr(stream.name) for stream in work.streams) if work.is_composed else repr(work.reads.stream)


def prepared(frame: DataFrame, work: Work) -> DataFrame:
    """Only the columns that the program reads, and where events may be skipped only rows that can matter."""
    reads = work.reads
    flat = with_fields(frame, reads)
    chosen = flat.where(reads.prefilter) if reads.prefilter else flat
    return chosen.select(*travelling(column.name for column in reads.columns))


def input_schema(frame: DataFrame, work: Work) -> pa.Schema:
    for pattern in work.patterns:
        check_collations(frame.schema, pattern)
    return source_columns(to_arrow_schema(frame.schema), work.reads)


def _advice(work: Work) -> str:
    if work.is_composed:
        return "key all queries by one column, and return it with their events"
    bounded = work.pattern.within >= 0 and work.pattern.within_unit == "time"
    return "write the rows to Parquet in order of time, or give the pattern a key" if bounded else "give the pattern a WITHIN or a key"


def _summed(counts: DataFrame) -> DataFrame:
    return counts.agg(F.coalesce(F.sum("count"), F.lit(0)).cast("long").alias("count"))


def _merged(parts: DataFrame, pattern: Pattern, output: pa.Schema) -> DataFrame:
    program = shipped(alone(pattern))

    def merge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches_of(merged(pa.Table.from_batches(batches, TASK_OUTPUT), program.load().body), output)

    return parts.repartition(1).mapInArrow(merge, to_spark_schema(output))


def _one_row(totals: DataFrame, work: Work) -> DataFrame:
    """What no match at all gives stands in where no task had rows."""
    nothing = [tuple(row.values()) for row in Session(work.program).close().to_pylist()]
    instead = totals.sparkSession.createDataFrame(nothing, totals.schema)
    found = totals.withColumn("__ostinato_last", F.lit(0)).unionAll(instead.withColumn("__ostinato_last", F.lit(1)))
    return found.orderBy("__ostinato_last").limit(1).drop("__ostinato_last")
