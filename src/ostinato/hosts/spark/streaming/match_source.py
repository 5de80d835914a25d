"""A query over a stream, from whichever source it comes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from ostinato.base.errors import UnsupportedError
from ostinato.hosts.spark.batch.match_batch import input_schema, output_schema, prepared, source_columns
from ostinato.hosts.spark.merged_frame import in_merged_form, united
from ostinato.hosts.spark.run_options import Lateness, RunOptions
from ostinato.hosts.spark.streaming.match_stream import (
    METRICS,
    check_streamable,
    match_packed,
    pack_rows,
    packer_of,
    with_lateness,
)
from ostinato.hosts.spark.streaming.packing import Packer
from ostinato.hosts.spark.streaming.parquet_stream import ParquetStream, rows_of
from ostinato.hosts.spark.streaming.rows_that_matter import rows_that_matter
from ostinato.query import Query

_OBSERVED = re.compile(r"CollectMetrics ([^\s,]+),")
_STATEFUL = re.compile(r"TransformWithState")
_WATERMARK = re.compile(r"EventTimeWatermark (?:[0-9a-fA-F-]+, )?(`[^`]+`|[^#\s]+)#\d+: \w+, ([^\n]+)")


def match_source(
    spark: SparkSession,
    source: DataFrame | ParquetStream,
    query: Query,
    options: RunOptions,
    *,
    name: str = METRICS,
    behind: int = 0,
) -> DataFrame:
    """`behind` is about rows that come from another match; see `match_packed`."""
    check_streamable(query.program)
    packer = packer_of(query.program, options.buckets)
    lateness = options.lateness
    own = Origin() if isinstance(source, ParquetStream) else origin_of(source)
    if isinstance(source, ParquetStream):
        columns = source_columns(source.schema, query.program)
        packed, watched = source.packed(spark, columns, packer), False
    else:
        input_schema(source, query)
        if own.matched:
            packed = pack_rows(prepared(source, query), packer)
            return _match_matches(packed, query, packer, options, _free_name(name, own.metrics), behind)
        packed, watched = _packed(source, query, packer, lateness)
    if lateness is None:
        delay = _checked_watermark(own, packer.time, packer.clock.is_integer)
    else:
        delay = packer.clock.delay(lateness)
        packed = packed if watched else with_lateness(packed, packer.clock, lateness)
    known = packer.clock.ticks_in(delay)
    return match_packed(packed, query.program, output_schema(query), packer, lateness=known, name=name, **_told(options))


def _packed(frame: DataFrame, query: Query, packer: Packer, lateness: Lateness | None) -> tuple[DataFrame, bool]:
    """The rows that matter, packed, and whether they have their watermark."""
    rows, watched = rows_that_matter(frame, query, packer.clock, None if lateness is None else packer.clock.delay(lateness))
    return pack_rows(rows, packer), watched


def _match_matches(packed: DataFrame, query: Query, packer: Packer, options: RunOptions, name: str, behind: int) -> DataFrame:
    """The rows are those of another match, which follow the watermark: it has one already, and Spark hands it on."""
    if options.lateness is not None and behind == 0:
        behind = packer.clock.ticks_in(packer.clock.delay(options.lateness)) or 0
    return match_packed(packed, query.program, output_schema(query), packer, name=name, behind=behind, **_told(options))


def match_sources(
    spark: SparkSession,
    sources: Sequence[DataFrame | ParquetStream],
    query: Query,
    options: RunOptions,
    *,
    name: str = METRICS,
    behind: int = 0,
) -> DataFrame:
    """The parts of a query, merged by time. Each has a watermark of its own, and what is late is late in its own stream: nothing is
    decided before all have come as far. So the session waits for Spark's watermark, which is the least of them."""
    check_streamable(query.program)
    packer = packer_of(query.program, options.buckets)
    lateness = options.lateness
    packed: list[DataFrame] = []
    observed: set[str] = set()
    for source, part in zip(sources, query.algebra.parts, strict=True):
        time = next(column for column, merged in part.columns if merged == query.algebra.time)
        frame = rows_of(spark, source, time, packer.clock) if isinstance(source, ParquetStream) else source
        own = origin_of(frame)
        observed |= own.metrics
        merged = in_merged_form(frame, part, query.algebra)
        rows, watched = (pack_rows(prepared(merged, query), packer), True) if own.matched else _packed(merged, query, packer, lateness)
        if lateness is None and not own.matched:
            _checked_watermark(own, time, packer.clock.is_integer, part.stream)
        packed.append(rows if watched or lateness is None else with_lateness(rows, packer.clock, lateness))
    name = _free_name(name, observed)
    return match_packed(united(packed), query.program, output_schema(query), packer, name=name, behind=behind, **_told(options))


def _told(options: RunOptions) -> dict[str, Any]:
    """What the sessions of the buckets are told."""
    return {"budget": options.budget, "keeps_late": options.keeps_late}


@dataclass(frozen=True)
class Origin:
    """Where the rows of a streaming DataFrame come from: `watermark` is the column that has one and its delay; `matched` says that
    they are the matches of another query, which the watermark has passed; `metrics` are the names under which such are observed."""

    watermark: tuple[str, str] | None = None
    matched: bool = False
    metrics: frozenset[str] = frozenset()


def origin_of(frame: DataFrame) -> Origin:
    plan = frame.sparkSession.sql("EXPLAIN EXTENDED SELECT * FROM {frame}", frame=frame).collect()[0][0]
    found = _WATERMARK.search(plan)
    watermark = (found.group(1).strip("`"), found.group(2)) if found else None
    return Origin(watermark, bool(_STATEFUL.search(plan)), frozenset(_OBSERVED.findall(plan)))


def _free_name(name: str, taken: Iterable[str]) -> str:
    """Spark wants every observation of a job to have a name of its own."""
    number, chosen = 1, name
    while chosen in taken:
        number += 1
        chosen = f"{name}_{number}"
    return chosen


def _checked_watermark(own: Origin, time: str, is_integer: bool, stream: str | None = None) -> str:
    """The delay of the stream's own watermark."""
    named = "the stream" if stream is None else f"stream {stream!r}"
    if own.watermark is None or is_integer:
        raise UnsupportedError(
            f"{named} has no watermark: nothing would ever be decided",
            hint=f"say how late rows may come: lateness='10 seconds', or df.withWatermark({time!r}, '10 seconds')",
        )
    column, delay = own.watermark
    if column.lower() != time.lower():
        raise UnsupportedError(
            f"{named}'s watermark is on {column!r}, but the query goes by {time!r}",
            hint=f"put the watermark on {time!r}, or pass lateness=",
        )
    return delay
