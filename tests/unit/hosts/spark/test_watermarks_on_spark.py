"""Streams with watermarks of their own, of every origin, on a real Spark: what is decided, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType, TimestampType

from ostinato.base.errors import OstinatoError, UnsupportedError
from ostinato.compiler import compile
from ostinato.hosts.spark import on

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

CLAUSE = """MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(ts) AS since, COUNT(*) AS n
  PATTERN (A B+) WITHIN INTERVAL '20' SECOND DEFINE B AS v < PREV(v))"""
TEXT = f"SELECT * FROM ticks {CLAUSE}"


def ticks(rows: int) -> pa.Table:
    rng = np.random.default_rng(3)
    times = pa.array(np.cumsum(rng.integers(1, 3, rows)) * 1_000_000, pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "k": [f"k{n}" for n in rng.integers(0, 5, rows)], "v": pa.array(rng.integers(0, 6, rows))})


def files(table: pa.Table, folder: Path, count: int) -> str:
    folder.mkdir()
    size = -(-table.num_rows // count)
    for number in range(count):
        pq.write_table(table.slice(number * size, size), folder / f"{number}.parquet")
        os.utime(folder / f"{number}.parquet", (1_000_000 + number, 1_000_000 + number))
    return str(folder)


def stream(spark, folder: str):
    return spark.readStream.schema("ts timestamp, k string, v bigint").option("maxFilesPerTrigger", 1).parquet(folder)


def decided(table: pa.Table, watermark: int, source: str) -> list[tuple]:
    session = compile(TEXT, {"ticks": table.schema}).open(lateness=None)
    rows = pa.concat_tables([session.push(table), session.advance(watermark)]).to_pylist()
    return [(source, row["k"], row["n"]) for row in rows]


def test_unions_of_which_one_stream_lags(spark, tmp_path) -> None:
    """The first stream is read to its end in the first micro-batch, the other takes four; Spark's watermark waits for both. Matches of
    both together, and of the slow one alone, are united again in one streaming query."""
    table = ticks(200)
    even = pa.array(np.arange(200) % 2 == 0)
    ahead = stream(spark, files(table.filter(pa.compute.invert(even)), tmp_path / "ahead", 1)).withWatermark("ts", "1 second")
    behind = stream(spark, files(table.filter(even), tmp_path / "behind", 4)).withWatermark("ts", "2 seconds")
    found = {"both": on(spark).sql(TEXT, ticks=ahead.union(behind), buckets=2), "slow": on(spark).sql(TEXT, ticks=behind, buckets=1)}
    matches = found["both"].withColumn("source", F.lit("both")).union(found["slow"].withColumn("source", F.lit("slow")))
    writer = matches.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()
    last = int(table.column("ts").cast(pa.int64())[-2].as_py())
    got = [(row["source"], row["k"], row["n"]) for row in spark.read.parquet(str(tmp_path / "out")).collect()]
    expected = decided(table, last - 2_000_000, "both") + decided(table.filter(even), last - 2_000_000, "slow")
    assert min(sum(row[0] == source for row in got) for source in found) > 10
    assert sorted(got) == sorted(expected)
    seen = [observed for progress in query.recentProgress for observed in progress.observedMetrics.values()]
    assert sum(observed.matches for observed in seen) == len(got)
    assert not any(observed.late_rows for observed in seen)


def test_times_without_a_watermark_of_their_own_are_refused(spark, tmp_path) -> None:
    plain = stream(spark, files(ticks(5), tmp_path / "in", 1))
    watched = plain.withWatermark("ts", "1 second")
    windows = watched.groupBy(F.window("ts", "10 seconds"), "k").agg(F.sum("v").alias("v"))
    engine = on(spark)
    for column in ("start", "end"):
        with pytest.raises(UnsupportedError, match="a column that it has no more, but the query goes by 'ts'"):
            engine.sql(TEXT, ticks=windows.select(F.col(f"window.{column}").alias("ts"), "k", "v"))
    with pytest.raises(UnsupportedError, match="watermark is on 'window'"):
        engine.sql(TEXT, ticks=windows.withColumn("ts", F.col("window.start")))
    for wanted in (F.window_time("window"),):
        assert engine.sql(TEXT, ticks=windows.select(wanted.alias("ts"), "k", "v")).isStreaming
    assert engine.sql(TEXT.replace("ts", "t2"), ticks=watched.withColumnRenamed("ts", "t2")).isStreaming
    with pytest.raises(UnsupportedError, match="goes by 'ts'"):
        engine.sql(TEXT, ticks=watched.withColumn("ts", F.expr("ts - interval 1 hour")))
    with pytest.raises(UnsupportedError, match="has a watermark already"):
        engine.sql(TEXT, ticks=watched, lateness="1 second")
    with pytest.raises(OstinatoError, match="lateness='soon' is no length of time"):
        engine.sql(TEXT, ticks=plain, lateness="soon")
    noted = StructField("ts", TimestampType(), True, {"spark.watermarkDelayMs": 1000})
    read_again = spark.readStream.schema(StructType([noted, StructField("k", StringType()), StructField("v", LongType())]))
    with pytest.raises(UnsupportedError, match="no watermark"):
        engine.sql(TEXT, ticks=read_again.parquet(str(tmp_path / "in")))


def test_matches_say_how_old_their_times_can_be(spark, tmp_path) -> None:
    plain = stream(spark, files(ticks(5), tmp_path / "in", 1))
    engine = on(spark)
    found = engine.sql(TEXT, ticks=plain, lateness="1 second")
    over = TEXT.replace("ORDER BY ts", "ORDER BY since").replace("FIRST(ts)", "FIRST(since)").replace("v < PREV(v)", "n < PREV(n)")
    assert engine.sql(over, ticks=found).isStreaming
    shifted = found.withColumn("since", F.expr("since - interval 1 hour"))
    with pytest.raises(UnsupportedError, match="by no known time"):
        engine.sql(over, ticks=shifted)
    assert engine.sql(over, ticks=shifted, lateness="2 hours").isStreaming
    endless = engine.sql(TEXT.replace("WITHIN INTERVAL '20' SECOND", ""), ticks=plain, lateness="1 second")
    with pytest.raises(UnsupportedError, match="by no known time"):
        engine.sql(over, ticks=endless)
