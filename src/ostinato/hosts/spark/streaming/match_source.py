"""A query over a stream, from whichever source it comes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession

from ostinato.base.errors import UnsupportedError
from ostinato.hosts.spark.batch.match_batch import input_schema, prepared, source_columns
from ostinato.hosts.spark.merged_frame import in_merged_form, united
from ostinato.hosts.spark.run_options import Lateness, RunOptions
from ostinato.hosts.spark.streaming.bucket_processor import BucketProcessor
from ostinato.hosts.spark.streaming.late_output import with_late_rows
from ostinato.hosts.spark.streaming.match_stream import (
    METRICS,
    check_lateness,
    check_streamable,
    match_packed,
    pack_rows,
    packer_of,
    with_lateness,
)
from ostinato.hosts.spark.streaming.packing import Packer
from ostinato.hosts.spark.streaming.parquet_stream import ParquetStream, rows_of
from ostinato.hosts.spark.streaming.prefilter import prefiltered
from ostinato.hosts.spark.streaming.stream_origin import (
    Origin,
    behind_of,
    check_no_end,
    check_no_watermark,
    check_watermark,
    origin_of,
    with_notes,
)
from ostinato.hosts.spark.streaming.tail import tail_of
from ostinato.hosts.spark.streaming.waiting import Waiting
from ostinato.hosts.spark.types import to_spark_schema
from ostinato.hosts.spark.work import Work
from ostinato.program import serde
from ostinato.program.analysis.output_times import output_times
from ostinato.program.input import Source as StreamSource


def match_source(
    spark: SparkSession,
    source: DataFrame | ParquetStream,
    work: Work,
    options: RunOptions,
    *,
    name: str = METRICS,
    behind: int | None = None,
) -> DataFrame:
    """`behind`: the rows come from another query of the same text, and are by so much older than the watermark at most."""
    check_streamable(work)
    packer = packer_of(work, options.buckets)
    check_lateness(options.lateness, work.reads)
    own = Origin(ends=source.ends) if isinstance(source, ParquetStream) else origin_of(source)
    if not isinstance(source, ParquetStream):
        input_schema(source, work)
    if own.matched and not isinstance(source, ParquetStream):
        check_no_end(own.ends)
        waiting = Waiting(behind=behind if behind is not None else _behind(own, packer, options.lateness))
        return _matched(pack_rows(prepared(source, work), packer), work, packer, waiting, options, own, name)
    if options.lateness is None:
        check_watermark(own, packer.time, packer.clock.is_integer)
        waiting = Waiting()
    else:
        check_no_watermark(own, packer.time)
        known = packer.clock.ticks_in(packer.clock.delay(options.lateness))
        if known is None and own.ends:
            raise UnsupportedError("ends=True needs a lateness of known length", hint="give it in days or less: months differ")
        packer, waiting = replace(packer, lateness=known), Waiting(lateness=known, announced=0 if known is None else 1)
    packed = _packed(spark, source, work, packer, options.lateness)
    return _matched(packed, work, packer, waiting, options, own, name)


def _matched(packed: DataFrame, work: Work, packer: Packer, waiting: Waiting, options: RunOptions, own: Origin, name: str) -> DataFrame:
    """The matches of packed rows as they are decided; or those that a stream of this query has left. `own` is where the rows come from."""
    output = with_late_rows(work.output, work.reads) if options.keeps_late else work.output
    processor = BucketProcessor(serde.dumps(work.program), output, packer, waiting, options.budget, options.keeps_late, work.is_set)
    if options.tail_of is not None:
        return tail_of(packed.sparkSession, options.tail_of, processor.closed, output)
    times = {} if work.is_set else output_times(work.pattern, waiting.behind)
    free = _free_name(name, own.metrics)
    shown = with_notes(to_spark_schema(output), times, own.ends, {*own.metrics, free})
    return match_packed(packed, processor, shown, free)


def _packed(spark: SparkSession, source: DataFrame | ParquetStream, work: Work, packer: Packer, lateness: Lateness | None) -> DataFrame:
    """The rows that matter, packed, with their watermark."""
    if isinstance(source, ParquetStream):
        columns = source_columns(source.schema, work.reads)
        packed, watched = source.packed(spark, columns, packer), False
    else:
        rows, watched = prefiltered(source, work.reads, packer.clock, None if lateness is None else packer.clock.delay(lateness))
        packed = pack_rows(rows, packer)
    return packed if watched or lateness is None else with_lateness(packed, packer.clock, lateness)


def _behind(own: Origin, packer: Packer, lateness: Lateness | None) -> int:
    """By how much the matches that are read here as rows can be older than the watermark. It is theirs, and Spark hands it on."""
    said = None if lateness is None else packer.clock.ticks_in(packer.clock.delay(lateness))
    return behind_of(own, packer.time) if said is None else max(said, own.behind.get(packer.time.lower(), 0))


def match_sources(
    spark: SparkSession,
    sources: Sequence[DataFrame | ParquetStream],
    work: Work,
    options: RunOptions,
    *,
    name: str = METRICS,
    behind: int | None = None,
) -> DataFrame:
    """The parts of a query, merged by time. Each has a watermark of its own, and what is late is late in its own stream: nothing is
    decided before all have come as far. `lateness=` is for those that have no watermark yet."""
    check_streamable(work)
    packer = packer_of(work, options.buckets)
    check_lateness(options.lateness, work.reads)
    parts = [_StreamPart.of(spark, source, part, work, packer) for source, part in zip(sources, work.reads.sources, strict=True)]
    known = _known_lateness(parts, packer, options.lateness)
    oldest = [part.behind(packer, options.lateness) if behind is None else behind for part in parts if part.own.matched]
    packed = []
    for number, part in enumerate(parts):
        packer_of_part = replace(packer, lateness=known, stream=number, streams=len(parts))
        packed.append(part.packed(spark, work, packer_of_part, options.lateness))
    waiting = Waiting(behind=max(oldest, default=0), announced=0 if known is None else len(parts))
    own = Origin(metrics=frozenset().union(*(part.own.metrics for part in parts)))
    return _matched(united(packed), work, replace(packer, lateness=known), waiting, options, own, name)


def _known_lateness(parts: Sequence[_StreamPart], packer: Packer, lateness: Lateness | None) -> int | None:
    """That of all parts; None where one of them has a watermark, since then Spark alone knows how far they have come together."""
    if lateness is not None and all(part.own.has_watermark and not part.own.matched for part in parts):
        check_no_watermark(parts[0].own, parts[0].time)
    for part in parts:
        if not part.own.matched and (lateness is None or part.own.has_watermark):
            check_watermark(part.own, part.time, packer.clock.is_integer, part.stream)
    if lateness is None or any(part.own.has_watermark for part in parts):
        return None
    return packer.clock.ticks_in(packer.clock.delay(lateness))


@dataclass(frozen=True)
class _StreamPart:
    """One of several streams: `rows` in the form that all have; `time` is what its own column is called."""

    stream: str
    time: str
    own: Origin
    rows: DataFrame

    @staticmethod
    def of(spark: SparkSession, source: DataFrame | ParquetStream, part: StreamSource, work: Work, packer: Packer) -> _StreamPart:
        time = next(column for column, merged in part.columns if merged == work.reads.time_name)
        check_no_end(isinstance(source, ParquetStream) and source.ends)
        frame = rows_of(spark, source, time, packer.clock) if isinstance(source, ParquetStream) else source
        own = origin_of(frame)
        check_no_end(own.ends)
        return _StreamPart(part.stream, time, own, in_merged_form(frame, part, work))

    def behind(self, packer: Packer, lateness: Lateness | None) -> int:
        return _behind(self.own, replace(packer, time=self.time), lateness)

    def packed(self, spark: SparkSession, work: Work, packer: Packer, lateness: Lateness | None) -> DataFrame:
        if self.own.matched:
            return pack_rows(prepared(self.rows, work), packer)
        return _packed(spark, self.rows, work, packer, None if self.own.has_watermark else lateness)


def _free_name(name: str, taken: Iterable[str]) -> str:
    """Spark wants every observation of a job to have a name of its own."""
    number, chosen = 1, name
    while chosen in taken:
        number += 1
        chosen = f"{name}_{number}"
    return chosen
