"""A stream that goes on from its checkpoint in a session with other settings, on a real Spark."""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException

from ostinato.compiler import compile
from ostinato.hosts.spark import on
from ostinato.hosts.spark.streaming.stream_settings import PARTITIONS, PARTITIONS_OF_BATCHES, PROVIDER, ROCKSDB

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

TEXT = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
  MEASURES FIRST(ts) AS a, LAST(ts) AS b PATTERN (A B+ C) WITHIN INTERVAL '90' SECOND DEFINE B AS v < PREV(v), C AS v > PREV(v))"""
OTHER_NAN = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000123))[0]
KEYS = (0.0, -0.0, 1.5, float("nan"), OTHER_NAN, -7.0, 22.0, 1e300)
LATENESS = 20
HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"


def ticks(rows: int) -> pa.Table:
    rng = np.random.default_rng(3)
    columns = {
        "ts": pa.array(np.cumsum(rng.integers(1, 3, rows)) * 1_000_000, pa.timestamp("us", "UTC")),
        "k": pa.array(np.array(KEYS)[rng.integers(0, len(KEYS), rows)]),
        "v": pa.array(rng.integers(0, 6, rows), pa.int32()),
    }
    return pa.table(columns)


def land(table: pa.Table, folder: Path, name: str) -> None:
    folder.mkdir(exist_ok=True)
    pq.write_table(table, folder / ("_" + name))
    os.rename(folder / ("_" + name), folder / name)


def go_on(session, folder: Path, text: str = TEXT) -> None:
    stream = session.readStream.schema("ts timestamp, k double, v int").parquet(str(folder / "in"))
    matches = on(session).sql(text, ticks=stream, lateness=f"{LATENESS} seconds")
    writer = matches.writeStream.format("parquet").option("path", str(folder / "out"))
    writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start().awaitTermination()


def matches(session, folder: Path) -> list[tuple]:
    found = session.read.parquet(str(folder / "out")).selectExpr("double(a) AS a", "double(b) AS b", "k").collect()
    return sorted((row.a, row.b, repr(row.k)) for row in found)


def expected(table: pa.Table) -> list[tuple]:
    last = int(table.column("ts").cast(pa.int64())[-1].as_py())
    session = compile(TEXT, {"ticks": table.schema}).open(lateness=None)
    found = pa.concat_tables([session.push(table), session.advance(last - LATENESS * 1_000_000)])
    return sorted((row["a"].timestamp(), row["b"].timestamp(), repr(row["k"])) for row in found.to_pylist())


def test_other_settings_do_not_touch_the_state_and_keys_are_those_of_the_batch(spark, tmp_path) -> None:
    """Shuffle partitions (they follow the cores of a local session), the time zone, and how many rows Spark hands out at a time."""
    table = ticks(400)
    first, then = spark.newSession(), spark.newSession()
    first.conf.set("spark.sql.shuffle.partitions", "2")
    for name, value in (("shuffle.partitions", "1"), ("session.timeZone", "America/New_York"), ("execution.arrow.maxRecordsPerBatch", "7")):
        then.conf.set("spark.sql." + name, value)
    land(table.slice(0, 200), tmp_path / "in", "0.parquet")
    go_on(first, tmp_path)
    land(table.slice(200), tmp_path / "in", "1.parquet")
    with pytest.raises(StreamingQueryException, match="belongs to another query"):
        go_on(then, tmp_path, TEXT.replace("B+", "B*"))
    go_on(then, tmp_path)
    wanted = expected(table)
    assert matches(first, tmp_path) == wanted
    assert sum(key in ("0.0", "nan") for _, _, key in wanted) > 20


@pytest.mark.slow
def test_other_queries_of_the_session_stay_as_they_were(spark, tmp_path) -> None:
    """Where nobody chose anything, a stream of patterns chooses. What the owner began before goes on as it began, batches have as many
    partitions as before, and what the owner chose is not touched."""
    plain, owned = spark.newSession(), spark.newSession()
    for name in (PROVIDER, PARTITIONS):
        plain.conf.unset(name)
    owned.conf.set(PROVIDER, HDFS)
    owned.conf.set(PARTITIONS, "3")
    table = ticks(60)
    land(table.slice(0, 30), tmp_path / "in", "0.parquet")
    assert distinct_values(owned, tmp_path) == (3, HDFS)
    go_on(plain, tmp_path)
    assert (plain.conf.get(PROVIDER), plain.conf.get(PARTITIONS)) == (ROCKSDB, "2")
    land(table.slice(30), tmp_path / "in", "1.parquet")
    assert distinct_values(plain, tmp_path) == (3, HDFS)  # as it began
    found = plain.read.parquet(str(tmp_path / "distinct"))
    assert sorted(row.v for row in found.collect()) == sorted(set(table.column("v").to_pylist()))
    plan = plain.sql("EXPLAIN SELECT id % 3, count(*) FROM range(0, 9, 1, 4) GROUP BY id % 3").collect()[0][0]
    assert re.search(r"hashpartitioning\(.*, 200\)", plan)
    owned.conf.set(PROVIDER, ROCKSDB)
    go_on(owned, tmp_path)  # with other shuffle partitions than the stream began with, as with other cores
    assert matches(spark, tmp_path) == expected(table)
    assert owned.conf.get(PARTITIONS) == "3" and owned.conf.get(PARTITIONS_OF_BATCHES, None) is None


def distinct_values(session, folder: Path) -> tuple[int, str]:
    """A stateful stream that has nothing to do with patterns: its partitions, and its state store."""
    stream = session.readStream.schema("ts timestamp, k double, v int").parquet(str(folder / "in")).select("v").dropDuplicates()
    writer = stream.writeStream.format("parquet").option("path", str(folder / "distinct"))
    query = writer.option("checkpointLocation", str(folder / "distinct_checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()
    (operator,) = query.lastProgress["stateOperators"]
    return operator["numShufflePartitions"], ROCKSDB if any("rocksdb" in name for name in operator["customMetrics"]) else HDFS
