"""A query over a streaming DataFrame: pack, shuffle by bucket, match with state, unpack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType
from pyspark.sql.utils import AnalysisException, IllegalArgumentException

from ostinato.base.errors import OstinatoError, UnsupportedError
from ostinato.hosts.spark.python_workers import check_workers
from ostinato.hosts.spark.run_options import Lateness
from ostinato.hosts.spark.ship_program import functions_as_they_are
from ostinato.hosts.spark.streaming.bucket_processor import DECIDED_ON_SPARK, LATE, MATCHES, QUARANTINED, ROW_COUNT, SHED, BucketProcessor
from ostinato.hosts.spark.streaming.buckets import DEFAULT_BUCKETS
from ostinato.hosts.spark.streaming.clock import Clock
from ostinato.hosts.spark.streaming.packed_rows import BUCKET, EVENT_TIME, PACKED_ON_SPARK
from ostinato.hosts.spark.streaming.packing import Packer, from_blobs
from ostinato.hosts.spark.streaming.stream_settings import ready_for_streams
from ostinato.hosts.spark.work import Work
from ostinato.program.analysis.output_times import input_delays
from ostinato.program.input import Input
from ostinato.program.pattern import RowPattern
from ostinato.runtime.session.given_times import check_fits, lateness_units
from ostinato.tasks.conform import batches_of
from ostinato.tasks.keyed_pass import concatenated

METRICS = "ostinato"
_observed = count(1)


def observation_name() -> str:
    """A new one: Spark wants every observation of a job to have a name of its own, and a job may unite any matches."""
    return f"{METRICS}_{next(_observed)}"


def buckets_for(work: Work, buckets: int | None) -> int:
    """Where no key divides anything there is one bucket."""
    return (buckets or DEFAULT_BUCKETS) if work.is_divided else 1


def clock_of(work: Work) -> Clock:
    """Spark has one watermark for all streams of an operator."""
    clocks = {stream.name: Clock.of(stream.reads) for stream in work.streams}
    if len(set(clocks.values())) > 1:
        numbered = ", ".join(repr(name) for name, clock in clocks.items() if clock.is_integer)
        raise UnsupportedError(
            f"the times of {numbered} are numbers, those of other streams are timestamps, and one watermark is to hold for all",
            hint="cast the times to one type, or make a set of queries for each",
        )
    return next(iter(clocks.values()))


def check_streamable(work: Work) -> None:
    for pattern in work.patterns:
        if pattern.output in ("count", "aggregates"):
            what = "a count of all matches is" if pattern.output == "count" else "aggregates over all matches are"
            raise UnsupportedError(f"{what} never final on a stream", hint="use another output, and aggregate its rows in Spark")
        if isinstance(pattern, RowPattern) and pattern.nfa.looks_at_end:
            hint = "leave out the $, or match a DataFrame that is not a stream"
            raise UnsupportedError("the last row of a partition, which the anchor $ asks for, is never final on a stream", hint=hint)
    _check_known_delays(work)


def _check_known_delays(work: Work) -> None:
    """Where nothing is known of how old events can be, those that read them would wait for the end, and a stream has none."""
    delays = input_delays(work.program)
    for operator in work.program.operators:
        if delays[operator.ports[0]] is None:
            sources = work.program.inputs[operator.ports[0]].sources
            named = ", ".join(f"`{source.stream}`" for source in sources if source.operator >= 0)
            raise UnsupportedError(
                f"events {named} can be older than what later queries of the stream have seen, by no known time",
                hint="Give their query a WITHIN in time, or return no time of your own: an event then has that of its last event",
            )


def check_lateness(lateness: Lateness | None, reads: Input) -> None:
    """As on every host; what a text says, Spark reads."""
    if isinstance(lateness, str):
        check_fits(lateness, reads)
    elif lateness is not None:
        lateness_units(lateness, reads)


def pack_rows(frame: DataFrame, packer: Packer) -> DataFrame:
    def pack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in concatenated(batches):
            yield packer.pack(table)

    return frame.mapInArrow(pack, PACKED_ON_SPARK)


def with_lateness(packed: DataFrame, clock: Clock, lateness: Lateness) -> DataFrame:
    try:
        return packed.withWatermark(EVENT_TIME, clock.delay(lateness))
    except (AnalysisException, IllegalArgumentException) as error:
        detail = str(error).strip().splitlines()[0]
        hint = "Pass a text like '10 seconds', a timedelta, or a number in the unit of the time column"
        raise OstinatoError(f"lateness={lateness!r} is no length of time", detail=detail, hint=hint) from error


def match_packed(packed: DataFrame, processor: BucketProcessor, shown: StructType, name: str) -> DataFrame:
    """Rows with the query's columns, appended when they are decided. Late rows, what was shed beyond the budget of a bucket, and queries
    of a set that were put in quarantine there, are counted in the progress of the streaming query, under observed metrics."""
    check_workers(packed.sparkSession)
    ready_for_streams(packed.sparkSession, processor.buckets)
    rows = packed.drop(EVENT_TIME)  # without the time Spark cannot drop a late blob unseen: the session counts late rows
    with functions_as_they_are(packed.sparkSession):
        decided = rows.groupBy(BUCKET).transformWithStateInPandas(processor, DECIDED_ON_SPARK, "append", "eventTime")
    sums = ((LATE, "late_rows"), (ROW_COUNT, "matches"), (SHED, "shed"), (QUARANTINED, "quarantined"))
    counted = decided.observe(name, *(F.coalesce(F.sum(column), F.lit(0)).alias(metric) for column, metric in sums))
    return counted.select(MATCHES).mapInArrow(_unpack(processor.output), shown)


def _unpack(output: pa.Schema) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def unpack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for blob in batch.column(0):
                yield from batches_of(from_blobs(iter([blob.as_py()])), output)

    return unpack
