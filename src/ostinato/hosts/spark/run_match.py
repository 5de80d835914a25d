"""A query over streams by name, with those of the same text that it reads: one batch, or one stateful operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from ostinato.base.errors import UnsupportedError
from ostinato.hosts.spark.batch.match_batch import decide_batch, match_batch
from ostinato.hosts.spark.run_options import RunOptions
from ostinato.hosts.spark.source import Source, is_batch
from ostinato.hosts.spark.streaming.match_source import early_conditions, match_streams
from ostinato.hosts.spark.work import Work
from ostinato.query import Query

STREAMING = "spark: streaming, rows packed per bucket of keys, one session per bucket in the state store"


def run_match(spark: SparkSession, query: Query, given: Mapping[str, Source], options: RunOptions) -> DataFrame:
    if query.upstream:
        options.refuse_late("by several queries in one text", "run them one by one, each with late= of its own")
    options.check_used(streams=not all(map(is_batch, given.values())), batches=any(map(is_batch, given.values())))
    sources = {name.lower(): source for name, source in given.items()}
    work = Work.of(query)
    return run_work(spark, work, [sources[stream.name.lower()] for stream in work.streams], options)


def run_work(spark: SparkSession, work: Work, read: Sequence[Source], options: RunOptions) -> DataFrame:
    """`read` are the streams of the work, in its order."""
    frames = batches_of(work, read)
    return match_streams(spark, read, work, options) if frames is None else match_batch(frames, work, options)


def batches_of(work: Work, read: Sequence[Source]) -> list[DataFrame] | None:
    """The streams of the work, if they are batches; None: they are streams."""
    frames = [source for source in read if is_batch(source)]
    if frames and len(frames) < len(read):
        still = next(stream.name for stream, source in zip(work.streams, read, strict=True) if is_batch(source))
        raise UnsupportedError(
            f"stream {still!r} is a table, and others that the pattern reads are streams",
            hint="Read it as a stream too, or join its columns to the stream before",
        )
    return frames or None


def division(query: Query, given: Mapping[str, Source]) -> str:
    """How Spark divides the work of a query."""
    sources = {name.lower(): source for name, source in given.items()}
    work = Work.of(query)
    return division_of(work, [sources[stream.name.lower()] for stream in work.streams])


def division_of(work: Work, read: Sequence[Source]) -> str:
    frames = batches_of(work, read)
    return streaming_text(work) if frames is None else decide_batch(frames, work).text


def streaming_text(work: Work) -> str:
    """How the rows of streams are divided into buckets."""
    lines = [STREAMING]
    for part in work.division.parts:
        names = ", ".join(work.streams[number].name for number in part.streams)
        by = dict.fromkeys(", ".join(key.column for key in keys) for keys in part.keys)
        lines.append(f"  {names}: " + (f"by {' and '.join(by)}" if part.not_by_key is None else f"one bucket: {part.not_by_key}"))
    if early_conditions(work) is not None:
        lines.append("  conditions are evaluated by the tasks that read the rows")
    return "\n".join(lines)
