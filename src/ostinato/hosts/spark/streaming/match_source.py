"""A program over streams, from whichever sources they come: all of it is one stateful operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession

from ostinato.base.errors import UnsupportedError
from ostinato.hosts.spark.merged_frame import united
from ostinato.hosts.spark.run_options import Lateness, RunOptions
from ostinato.hosts.spark.ship_program import shipped
from ostinato.hosts.spark.stream_rows import check_stream, source_columns, without_filters
from ostinato.hosts.spark.streaming.bucket_processor import BucketProcessor
from ostinato.hosts.spark.streaming.clock import Clock
from ostinato.hosts.spark.streaming.late_output import with_late_rows
from ostinato.hosts.spark.streaming.live_set import LiveSet
from ostinato.hosts.spark.streaming.match_stream import (
    buckets_for,
    check_lateness,
    check_streamable,
    clock_of,
    match_packed,
    observation_name,
    pack_rows,
    with_lateness,
)
from ostinato.hosts.spark.streaming.packing import Packer
from ostinato.hosts.spark.streaming.parquet_stream import ParquetStream
from ostinato.hosts.spark.streaming.prefilter import prefiltered
from ostinato.hosts.spark.streaming.rule_source import rule_changes
from ostinato.hosts.spark.streaming.stream_origin import (
    Origin,
    behind_of,
    check_ends,
    check_no_watermark,
    check_watermark,
    origin_of,
    with_notes,
)
from ostinato.hosts.spark.streaming.tail import tail_of
from ostinato.hosts.spark.streaming.waiting import Waiting
from ostinato.hosts.spark.types import to_spark_schema
from ostinato.hosts.spark.work import Work
from ostinato.program.analysis.output_times import result_times
from ostinato.program.query_graphs import NO_QUERIES
from ostinato.tasks.early_conditions import EarlyConditions
from ostinato.tasks.outside_streams import OutsideStream

Given = DataFrame | ParquetStream


def match_streams(spark: SparkSession, given: Sequence[Given], work: Work, options: RunOptions, live: LiveSet | None = None) -> DataFrame:
    """`given` are the streams of the work, in its order. Each has a watermark of its own, and what is late is late in its own stream; those
    that are merged wait until all have come as far. `lateness=` is for those that have no watermark yet. `live`: the queries are those of a
    log, whose changes come as a stream beside the others."""
    check_streamable(work)
    clock, buckets = clock_of(work), buckets_for(work, options.buckets)
    for stream in work.streams:
        check_lateness(options.lateness, stream.reads)
    parts = [_StreamPart(stream, source, _origin(source)) for stream, source in zip(work.streams, given, strict=True)]
    check_ends([part.own.ends for part in parts], any(part.own.matched for part in parts))
    known = _known_lateness(parts, clock, options.lateness)
    behind = max((_behind(part.own, part.stream.time, clock, options.lateness) for part in parts if part.own.matched), default=0)
    waiting = Waiting(known, 0 if known is None else len(parts), behind)
    # late rows that are kept are shown as they came
    early = None if options.keeps_late else early_conditions(work)
    packed = []
    for number, part in enumerate(parts):
        packer = Packer.of(part.stream, work.keys_of(number), buckets, clock, number, len(parts))
        packed.append(part.packed(spark, work, replace(packer, lateness=known).evaluating(early), options.lateness))
    if live is not None:
        packed.append(rule_changes(spark, live.log, buckets))
    output = with_late_rows(work.output, work.reads) if options.keeps_late else work.output
    told = (options.budget, options.keeps_late, work.is_set, work.quarantines, live)
    matching = work.program if early is None else early.program
    program = shipped(matching if live is None else NO_QUERIES)
    processor = BucketProcessor(program, output, buckets, clock, waiting, *told)
    return _matched(united(packed), processor, work, options, any(part.own.ends for part in parts))


def early_conditions(work: Work) -> EarlyConditions | None:
    """Where nothing divides the rows of a query, its conditions are evaluated before they come to the one bucket. Not so of sets, in which
    an error of one query does not end the others."""
    return None if work.is_divided or work.is_set else EarlyConditions.of(work.program)


def _matched(packed: DataFrame, processor: BucketProcessor, work: Work, options: RunOptions, ends: bool) -> DataFrame:
    """The matches of packed rows as they are decided; or those that a stream of this query has left. `ends`: the streams say so."""
    output = processor.output
    if options.tail_of is not None:
        return tail_of(packed.sparkSession, options.tail_of, processor.closed, output)
    times = {} if work.is_set else result_times(work.program, processor.waiting.behind)
    name = observation_name()
    return match_packed(packed, processor, with_notes(to_spark_schema(output), times, ends, name), name)


@dataclass(frozen=True)
class _StreamPart:
    """A stream, and the rows that are given for it."""

    stream: OutsideStream
    source: Given
    own: Origin

    def packed(self, spark: SparkSession, work: Work, packer: Packer, lateness: Lateness | None) -> DataFrame:
        """The rows that matter, packed, with their watermark."""
        if isinstance(self.source, ParquetStream):
            packed, watched = self.source.packed(spark, source_columns(self.source.schema, self.stream.reads), packer), False
        else:
            check_stream(self.source.schema, self.stream, work.program)
            has_one = lateness is None or self.own.has_watermark or self.own.matched
            delay = None if has_one or lateness is None else packer.clock.delay(lateness)
            program = work.program if work.fixed is None else without_filters(work.program)  # a query to come may want what none wants now
            rows, watched = prefiltered(self.source, self.stream, program, packer.clock, delay)
            packed = pack_rows(rows, packer)
        return packed if watched or lateness is None else with_lateness(packed, packer.clock, lateness)


def _origin(source: Given) -> Origin:
    return Origin(ends=source.ends) if isinstance(source, ParquetStream) else origin_of(source)


def _known_lateness(parts: Sequence[_StreamPart], clock: Clock, lateness: Lateness | None) -> int | None:
    """That of all streams; None where one of them has a watermark, since then Spark alone knows how far they have come together."""
    if lateness is not None and all(part.own.has_watermark and not part.own.matched for part in parts):
        check_no_watermark(parts[0].own, parts[0].stream.time)
    for part in parts:
        if not part.own.matched and (lateness is None or part.own.has_watermark):
            check_watermark(part.own, part.stream.time, clock.is_integer, part.stream.name if len(parts) > 1 else None)
    if lateness is None or any(part.own.has_watermark or part.own.matched for part in parts):
        if any(part.own.ends for part in parts):
            raise UnsupportedError("ends=True needs a lateness= that holds for all streams", hint="leave out ends=True, or the watermarks")
        return None
    known = clock.ticks_in(clock.delay(lateness))
    if known is None and any(part.own.ends for part in parts):
        raise UnsupportedError("ends=True needs a lateness of known length", hint="give it in days or less: months differ")
    return known


def _behind(own: Origin, time: str, clock: Clock, lateness: Lateness | None) -> int:
    """By how much the matches that are read here as rows can be older than the watermark. It is theirs, and Spark hands it on."""
    said = None if lateness is None else clock.ticks_in(clock.delay(lateness))
    return behind_of(own, time) if said is None else max(said, own.behind.get(time.lower(), 0))
