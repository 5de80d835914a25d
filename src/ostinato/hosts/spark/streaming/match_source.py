"""A query over a stream, from whichever source it comes."""

from __future__ import annotations

import re

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ostinato.base.errors import UnsupportedError
from ostinato.hosts.spark.batch.match_batch import input_schema, output_schema, prepared
from ostinato.hosts.spark.streaming.match_stream import (
    METRICS,
    Lateness,
    check_streamable,
    match_packed,
    pack_rows,
    packer_of,
    with_lateness,
)
from ostinato.hosts.spark.streaming.parquet_stream import ParquetStream
from ostinato.query import Query

_WATERMARK = re.compile(r"EventTimeWatermark (?:[0-9a-fA-F-]+, )?(`[^`]+`|[^#\s]+)#\d+: \w+, ([^\n]+)")


def match_source(
    spark: SparkSession,
    source: DataFrame | ParquetStream,
    query: Query,
    *,
    lateness: Lateness | None,
    buckets: int | None,
    name: str = METRICS,
) -> DataFrame:
    check_streamable(query.program)
    packer = packer_of(spark, query.program, buckets)
    if isinstance(source, ParquetStream):
        columns = pa.schema([source.schema.field(column.name) for column in query.program.columns])
        packed = source.packed(spark, columns, packer)
        own_watermark = None
    else:
        input_schema(source, query)
        own_watermark = watermark_of(source)
        packed = pack_rows(prepared(source, query), packer)
    if lateness is not None:
        packed = with_lateness(packed, packer.clock, lateness)
        delay = packer.clock.delay(lateness)
    else:
        _check_watermark(own_watermark, packer.time, packer.clock.is_integer)
        delay = own_watermark[1]
    known = packer.clock.ticks_in(delay)
    return match_packed(packed, query.program, output_schema(query), packer, lateness=known, name=name)


def watermark_of(frame: DataFrame) -> tuple[str, str] | None:
    """The column on which the DataFrame has a watermark, and its delay."""
    plan = frame.sparkSession.sql("EXPLAIN EXTENDED SELECT * FROM {frame}", frame=frame).collect()[0][0]
    found = _WATERMARK.search(plan)
    return (found.group(1).strip("`"), found.group(2)) if found else None


def _check_watermark(own: tuple[str, str] | None, time: str, is_integer: bool) -> None:
    if own is None or is_integer:
        raise UnsupportedError(
            "the stream has no watermark: nothing would ever be decided",
            hint=f"say how late rows may come: lateness='10 seconds', or df.withWatermark({time!r}, '10 seconds')",
        )
    if own[0].lower() != time.lower():
        raise UnsupportedError(
            f"the stream's watermark is on {own[0]!r}, but the query goes by {time!r}",
            hint=f"put the watermark on {time!r}, or pass lateness=",
        )
