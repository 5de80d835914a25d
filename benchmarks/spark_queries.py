"""Queries, inputs and jobs of the Spark benchmarks, through public names alone: what any checkout of the project understands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from benchmarks.ticks import random_walk
from ostinato.hosts.spark import on

V_SHAPE = """
SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY key ORDER BY ts
  MEASURES A.ts AS start_ts, LAST(B.price) AS bottom, LAST(C.ts) AS end_ts, COUNT(*) AS ticks
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN ({pattern})
  {within}
  DEFINE B AS price < PREV(price), C AS price > PREV(price)
)
"""
WITHIN = "WITHIN INTERVAL '{seconds}' SECOND"
WINDOWS = (10, 100)  # milliseconds; rows are a microsecond apart
SHALLOW, DEEP = "A B+ C+", "A B{4,} C{4,}"
SEQUENCE = """
PATTERN SEQ(Ticks a, Ticks b, Ticks c)
WHERE skip_till_next_match(a, b, c) {{ [key] AND a.volume > 990 AND b.volume < 10 AND c.volume > 990 }}
WITHIN {milliseconds} milliseconds
RETURN a.ts AS start_ts, c.ts AS end_ts
"""
COLUMNS = ("key", "ts", "price")


def write_ticks(folder: Path, rows: int, keys: int, files: int = 4) -> list[str]:
    folder.mkdir(parents=True)
    ticks = random_walk(rows, keys)
    size = -(-rows // files)
    paths = []
    for number in range(files):
        path = folder / f"{number}.parquet"
        pq.write_table(ticks.slice(number * size, size), path, row_group_size=1 << 18)
        paths.append(str(path))
    return paths


def v_shape(pattern: str, milliseconds: int | None = None) -> str:
    within = "" if milliseconds is None else WITHIN.format(seconds=milliseconds / 1000)
    return V_SHAPE.format(pattern=pattern, within=within)


STREAMED = v_shape(SHALLOW, 10)
LATENESS = "0 seconds"
WARM_UP_BATCHES = 3


def write_batches(folder: Path, batches: int, rows: int, keys: int) -> Path:
    """One file per micro-batch."""
    folder.mkdir(parents=True)
    ticks = random_walk(batches * rows, keys).select(["key", "ts", "price"])
    for number in range(batches):
        pq.write_table(ticks.slice(number * rows, rows), folder / f"{number:05d}.parquet")
    return folder


def batch_seconds(frame: DataFrame, checkpoint: Path) -> list[float]:
    writer = frame.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    with_rows = [progress for progress in query.recentProgress if progress.numInputRows]
    return [progress.batchDuration / 1000 for progress in with_rows[WARM_UP_BATCHES:]]


def rows_of(spark: SparkSession, source: Path) -> DataFrame:
    schema = spark.read.parquet(str(source)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(source))


def our_streams(spark: SparkSession, source: Path, rows: int) -> dict[str, Callable[[], DataFrame]]:
    engine = on(spark)
    return {
        "packed rows": lambda: engine.sql(STREAMED, ticks=rows_of(spark, source), lateness=LATENESS),
        "own source": lambda: engine.sql(STREAMED, ticks=engine.read_stream(str(source), rows_per_batch=rows), lateness=LATENESS),
    }
