"""Streams that end, on a real Spark: to the last match what a batch gives."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException

import ostinato as ost
from ostinato.base.errors import DataError, UnsupportedError
from ostinato.hosts.spark import on

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

CLAUSE = """ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(ts) AS since, COUNT(*) AS n
  PATTERN (A B+) DEFINE B AS v <= PREV(v))"""
TEXT = f"SELECT k, n FROM {CLAUSE} WHERE n > 1"


def ticks(rows: int = 90) -> pa.Table:
    rng = np.random.default_rng(8)
    times = pa.array(np.cumsum(rng.integers(1, 3, rows)) * 1_000_000, pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "k": [f"k{n}" for n in rng.integers(0, 5, rows)], "v": pa.array(rng.integers(0, 6, rows))})


def run_to_end(frame, folder) -> None:
    writer = frame.writeStream.format("parquet").option("path", str(folder / "out"))
    writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start().awaitTermination()


def rows_in(frame) -> list[tuple]:
    return sorted(tuple(row) for row in frame.select("k", "n").collect())


@pytest.fixture
def archive(tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(3):
        pq.write_table(ticks().slice(30 * number, 30), tmp_path / "in" / f"{number}.parquet")
    return str(tmp_path / "in")


def expected() -> list[tuple]:
    return sorted(tuple(row.values()) for row in ost.sql(TEXT, ticks=ticks()).to_arrow().to_pylist())


def test_the_own_source_says_that_it_ends(spark, tmp_path, archive) -> None:
    engine = on(spark)
    stream = engine.read_stream(archive, rows_per_batch=60, ends=True)
    matches = engine.sql(TEXT, ticks=stream, lateness="1 minute", buckets=3)
    run_to_end(matches, tmp_path)
    run_to_end(matches, tmp_path)  # nothing more comes, and nothing twice
    assert rows_in(spark.read.parquet(str(tmp_path / "out"))) == expected()
    pq.write_table(ticks().slice(0, 3), tmp_path / "in" / "9.parquet")
    with pytest.raises(StreamingQueryException, match=r"has ended, and then the file 9\.parquet came"):
        run_to_end(matches, tmp_path)
    with pytest.raises(UnsupportedError, match="when all streams of a query have ended"):
        engine.match("PATTERN SEQ(ticks a, more b)", ticks=stream, more=engine.read_stream(archive), lateness=0)
    with pytest.raises(UnsupportedError, match="when all streams of a query have ended"):
        found = engine.sql(f"SELECT * FROM {CLAUSE}", ticks=stream, lateness=0)
        over = CLAUSE.replace("ORDER BY ts", "ORDER BY since").replace("FIRST(ts)", "FIRST(since)").replace("v <= PREV(v)", "n <= PREV(n)")
        engine.sql(f"SELECT * FROM {over}", ticks=found, lateness=0)


def test_the_tail_of_any_stream(spark, tmp_path, archive) -> None:
    engine = on(spark)
    frame = spark.readStream.schema("ts timestamp, k string, v bigint").parquet(archive).withWatermark("ts", "1 minute")
    run_to_end(engine.sql(TEXT, ticks=frame, buckets=3), tmp_path)
    decided = rows_in(spark.read.parquet(str(tmp_path / "out")))
    tail = engine.sql(TEXT, ticks=frame, tail_of=str(tmp_path / "checkpoint"))
    assert not tail.isStreaming
    left = rows_in(tail)
    assert decided and left
    assert sorted(decided + left) == expected()
    with pytest.raises(DataError, match="no stored state"):
        engine.sql(TEXT, ticks=frame, tail_of=str(tmp_path / "none"))
    with pytest.raises(UnsupportedError, match="for streams that have ended"):
        engine.sql(TEXT, ticks=spark.read.parquet(archive), tail_of=str(tmp_path / "checkpoint"))


def test_the_tail_of_a_set(spark, tmp_path, archive) -> None:
    rules = ost.QuerySet({"ticks": ticks().schema})
    rules.add("falls", f"SELECT * FROM {CLAUSE}")
    rules.add("pairs", "PATTERN SEQ(ticks a, ticks b) WHERE [k] AND b.v = a.v WITHIN 9 seconds RETURN a.k AS k, b.v AS v")
    engine = on(spark)
    stream = spark.readStream.schema(spark.read.parquet(archive).schema).parquet(archive)
    run_to_end(engine.match_all(rules, ticks=stream, lateness="1 minute", buckets=3), tmp_path)
    tail = engine.match_all(rules, ticks=stream, lateness="1 minute", buckets=3, tail_of=str(tmp_path / "checkpoint"))
    names = ["query_id", "k", "n", "v"]
    rows = [*spark.read.parquet(str(tmp_path / "out")).select(names).collect(), *tail.select(names).collect()]
    wanted = ost.match_all(rules, ticks=ticks())
    assert sorted((row.k, row.n) for row in rows if row.query_id == "falls") == sorted(
        (row["k"], row["n"]) for row in wanted["falls"].to_pylist()
    )
    assert sorted((row.k, row.v) for row in rows if row.query_id == "pairs") == sorted(
        (row["k"], row["v"]) for row in wanted["pairs"].to_pylist()
    )
    assert tail.count() > 0
    with pytest.raises(UnsupportedError, match="streams that have ended"):
        engine.match_all(rules, ticks=spark.read.parquet(archive), tail_of=str(tmp_path / "checkpoint"))
