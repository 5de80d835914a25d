"""The rows of a stream that can be part of a match. The others are left out before they reach Python, but not before the watermark has seen
them: time goes on with every row, and a stream whose last rows match nothing has come as far as those."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from ostinato.hosts.spark.nested_columns import quoted, travelling
from ostinato.hosts.spark.stream_rows import marked
from ostinato.hosts.spark.streaming.clock import Clock
from ostinato.program.program import Program
from ostinato.tasks.outside_streams import OutsideStream

SEEN = "__ostinato_time"


def prefiltered(frame: DataFrame, stream: OutsideStream, program: Program, clock: Clock, delay: str | None) -> tuple[DataFrame, bool]:
    """`delay` is that of the watermark the stream is to have; None: it has one, on its time column. Second, whether the rows carry it now:
    without a filter it costs less on the blobs that they are packed into."""
    rows, matters = marked(frame, stream, program)
    columns = travelling(column.name for column in stream.reads.columns)
    seen = quoted(stream.time) if delay is None else _as_timestamp(rows, stream.time, clock)
    if matters is None or seen is None:
        return rows.select(*columns), delay is None
    if delay is None:
        return rows.where(_kept(matters, seen)).select(*columns), True
    watched = rows.withColumn(SEEN, seen).withWatermark(SEEN, delay)
    return watched.where(_kept(matters, F.col(SEEN))).select(*columns), True


def _kept(matters: Column, seen: Column) -> Column:
    """Spark moves a filter below the watermark unless it asks for the time. Rows without one are an error, for the session to raise."""
    return matters | seen.isNull()


def _as_timestamp(frame: DataFrame, time: str, clock: Clock) -> Column | None:
    """As `Clock.to_spark` counts it, which refuses what is too large. None: a reading of a wall clock, which Spark would take for the
    session's time zone."""
    if clock.is_integer:
        return F.timestamp_micros(F.try_multiply(quoted(time).cast("long"), F.lit(1000)))
    return quoted(time) if isinstance(frame.schema[time].dataType, spark.TimestampType) else None
