"""The queries of a text, one after the other: what one returns is a stream for those after it."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from ostinato.base.errors import UnsupportedError
from ostinato.hosts.spark.batch.match_batch import decide_batch, match_batch
from ostinato.hosts.spark.merged_frame import in_merged_form, united
from ostinato.hosts.spark.run_options import RunOptions
from ostinato.hosts.spark.source import Source, is_batch
from ostinato.hosts.spark.streaming.match_source import match_source, match_sources
from ostinato.hosts.spark.streaming.match_stream import METRICS
from ostinato.hosts.spark.work import Work
from ostinato.program.analysis.output_times import output_times
from ostinato.query import Query

STREAMING = "spark: streaming, rows packed per bucket of keys, one session per bucket in the state store"


def run_match(
    spark: SparkSession,
    query: Query,
    given: Mapping[str, Source],
    options: RunOptions,
) -> DataFrame:
    if query.upstream:
        options.refuse_late("by several queries in one text", "run them one by one, each with late= of its own")
    sources = {name.lower(): source for name, source in given.items()}
    options.check_used(streams=not all(map(is_batch, given.values())), batches=any(map(is_batch, given.values())))
    delays: dict[str, int] = {}
    for number, step in enumerate((*query.upstream, query), 1):
        read = sources_of(step, sources)
        frames = [source for source in read if is_batch(source)]
        if len(frames) < len(read):
            name = METRICS if step is query else f"{METRICS}_{number}"
            behind = max((delays[stream] for stream in _streams(step) if stream in delays), default=None)
            found = _match_stream(spark, step, read, options, name, behind)
            if step is not query:
                delays[str(step.composite).lower()] = (behind or 0) + _decided_after(step)
        else:
            found = match_batch(batch_frame(Work.of(step), frames), Work.of(step), options)
        sources[str(step.composite).lower()] = found
    return found


def division(query: Query, given: Mapping[str, Source]) -> str:
    """How Spark divides the work of each query."""
    sources = {name.lower(): source for name, source in given.items()}
    shown = []
    for step in (*query.upstream, query):
        read = sources_of(step, sources)
        frames = [source for source in read if is_batch(source)]
        if len(frames) < len(read):
            return STREAMING
        frame = batch_frame(Work.of(step), frames)
        shown.append(decide_batch(frame, Work.of(step)).text)
        if step is not query:
            sources[str(step.composite).lower()] = match_batch(frame, Work.of(step), RunOptions())
    return "\n".join(shown)


def division_of(source: Source, query: Query) -> str:
    """How Spark divides the work of one query over one source."""
    return decide_batch(source, Work.of(query)).text if is_batch(source) else STREAMING


def sources_of(query: Query, sources: Mapping[str, Source]) -> list[Source]:
    return [sources[name] for name in _streams(query)]


def batch_frame(work: Work, read: list[DataFrame]) -> DataFrame:
    """What the query reads, as one DataFrame."""
    sources = work.reads.sources
    if not sources:
        return read[0]
    return united(in_merged_form(frame, source, work) for frame, source in zip(read, sources, strict=True))


def _streams(query: Query) -> list[str]:
    reads = query.pattern.reads
    return [source.stream.lower() for source in reads.sources] if reads.sources else [reads.stream.lower()]


def _match_stream(
    spark: SparkSession,
    query: Query,
    read: list[Source],
    options: RunOptions,
    name: str,
    behind: int | None,
) -> DataFrame:
    if any(is_batch(source) for source in read):
        still = next(part.stream for part, source in zip(query.pattern.reads.sources, read, strict=True) if is_batch(source))
        raise UnsupportedError(
            f"stream {still!r} is a table, and others that the pattern reads are streams",
            hint="Read it as a stream too, or join its columns to the stream before",
        )
    if query.pattern.reads.sources:
        return match_sources(spark, read, Work.of(query), options, name=name, behind=behind)
    return match_source(spark, read[0], Work.of(query), options, name=name, behind=behind)


def _decided_after(query: Query) -> int:
    """How far the watermark can be past the time of an event that a query returns, when it returns it."""
    behind = output_times(query.pattern).get(query.pattern.reads.time_name)
    if behind is None:
        raise UnsupportedError(
            f"events `{query.composite}` can be older than what later queries of the stream have seen, by no known time",
            hint="Give their query a WITHIN in time, or return no time of your own: an event then has that of its last event",
        )
    return behind
