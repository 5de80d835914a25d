"""Streaming queries through the public calls, on a real Spark."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException

from ostinato.base.errors import DataError, UnsupportedError
from ostinato.compiler import compile
from ostinato.hosts.spark import on

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

TEXT = """SELECT k, n, first_ts FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
  MEASURES FIRST(ts) AS first_ts, COUNT(*) AS n PATTERN (A B+ C) WITHIN INTERVAL '20' SECOND DEFINE B AS v < PREV(v), C AS v > PREV(v))"""


def ticks(rows: int, seed: int = 3) -> pa.Table:
    rng = np.random.default_rng(seed)
    columns = {
        "ts": pa.array(np.cumsum(rng.integers(1, 3, rows)) * 1_000_000, pa.timestamp("us", "UTC")),  # no ties: disorder would change them
        "k": pa.array([f"k{n}" for n in rng.integers(0, 5, rows)]),
        "v": pa.array(rng.integers(0, 6, rows), pa.int32()),
    }
    return pa.table(columns)


def land(table: pa.Table, folder: Path, name: str) -> None:
    """Appears at once, as a collector would do it."""
    folder.mkdir(exist_ok=True)
    pq.write_table(table, folder / ("_" + name))
    os.rename(folder / ("_" + name), folder / name)


def run_to_end(frame, folder: Path):
    writer = frame.writeStream.format("parquet").option("path", str(folder / "out"))
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()
    return query


def found(spark, folder: Path) -> list[tuple]:
    return sorted(tuple(row) for row in spark.read.parquet(str(folder / "out")).select("k", "n", "first_ts").collect())


def expected(table: pa.Table, watermark: int, text: str = TEXT) -> list[tuple]:
    """What is decided when the watermark stands at `watermark`."""
    session = compile(text.replace("SELECT k, n, first_ts", "SELECT *"), {"ticks": table.schema}).open(lateness=None)
    rows = pa.concat_tables([session.push(table), session.advance(watermark)]).select(["k", "n", "first_ts"]).to_pylist()
    return sorted((row["k"], row["n"], row["first_ts"].replace(tzinfo=None)) for row in rows)


def test_directory_restart_disorder_late_rows_and_a_poisoned_file(spark, tmp_path) -> None:
    table = ticks(300)
    disordered = table.take(np.argsort(np.arange(300) + np.random.default_rng(0).integers(0, 5, 300), kind="stable"))
    last = int(table.column("ts").cast(pa.int64())[-1].as_py())
    source = tmp_path / "in"
    for number in range(3):
        land(disordered.slice(number * 50, 50), source, f"{number}.parquet")
    stream = on(spark).read_stream(str(source), rows_per_batch=60)
    matches = on(spark).sql(TEXT, ticks=stream, lateness="20 seconds", buckets=3)
    assert matches.isStreaming
    run_to_end(matches, tmp_path)
    early = len(found(spark, tmp_path))
    poisoned = ticks(5).set_column(0, "ts", pa.array([None] * 5, table.schema.field("ts").type))
    land(disordered.slice(150, 100), source, "3.parquet")
    land(poisoned, source, "4.parquet")
    with pytest.raises(StreamingQueryException, match='time column "ts"'):
        run_to_end(matches, tmp_path)
    (source / "4.parquet").unlink()
    land(disordered.slice(250), source, "5.parquet")
    land(table.slice(0, 7), source, "6.parquet")
    with pytest.raises(StreamingQueryException, match=r"4\.parquet is gone since it was planned"):
        run_to_end(matches, tmp_path)
    repaired = on(spark).read_stream(str(source), rows_per_batch=60, repaired=True)
    query = run_to_end(on(spark).sql(TEXT, ticks=repaired, lateness="20 seconds", buckets=3), tmp_path)
    got = found(spark, tmp_path)
    assert 0 < early < len(got)
    assert got == expected(table, last - 20_000_000)
    assert sum(seen.late_rows for progress in query.recentProgress for seen in progress.observedMetrics.values()) == 7
    with pytest.raises(StreamingQueryException, match="begun with 3 buckets"):
        land(table.slice(290), source, "7.parquet")
        run_to_end(on(spark).sql(TEXT, ticks=stream, lateness="20 seconds", buckets=4), tmp_path)


@pytest.mark.slow  # sessions are tested for it by themselves (tests/unit/runtime)
def test_a_value_that_cannot_be_computed_stops_the_batch_that_brings_it(spark, tmp_path) -> None:
    """It would be computed only when the watermark has passed it: by then the row would be in the state for good."""
    table = ticks(100).set_column(2, "v", ticks(100).column("v").cast(pa.int64()))
    text = TEXT.replace("DEFINE", "DEFINE A AS v * 4 >= 0,")
    source = tmp_path / "in"
    land(table.slice(0, 50), source, "0.parquet")
    matches = on(spark).sql(text, ticks=on(spark).read_stream(str(source), rows_per_batch=60), lateness="20 seconds", buckets=2)
    run_to_end(matches, tmp_path)
    early = len(found(spark, tmp_path))
    poisoned = pa.array([*table.column("v").to_pylist()[50:97], *[2**62] * 3])
    land(table.slice(50).set_column(2, "v", poisoned), source, "1.parquet")
    with pytest.raises(StreamingQueryException, match="64 bits"):
        run_to_end(matches, tmp_path)
    land(table.slice(50), source, "1.parquet")
    repaired = on(spark).read_stream(str(source), rows_per_batch=60, repaired=True)
    run_to_end(on(spark).sql(text, ticks=repaired, lateness="20 seconds", buckets=2), tmp_path)
    last = int(table.column("ts").cast(pa.int64())[-1].as_py())
    got = found(spark, tmp_path)
    assert early < len(got)
    assert got == expected(table, last - 20_000_000, text)


def test_files_that_are_touched_and_files_with_other_columns(spark, tmp_path) -> None:
    table = ticks(90)
    source = tmp_path / "in"
    land(table.slice(0, 60), source, "0.parquet")
    matches = on(spark).sql(TEXT, ticks=on(spark).read_stream(str(source)), lateness=0, buckets=2)
    run_to_end(matches, tmp_path)
    (source / "0.parquet").chmod(0o600)
    land(table.slice(60).drop(["v"]), source, "1.parquet")
    with pytest.raises(StreamingQueryException, match=r"1\.parquet has no column 'v'"):
        run_to_end(matches, tmp_path)
    land(table.slice(60).set_column(2, "v", table.slice(60).column("v").cast(pa.string())), source, "1.parquet")
    with pytest.raises(StreamingQueryException, match=r"column 'v' of the file .*1\.parquet has type string"):
        run_to_end(matches, tmp_path)
    narrow = table.slice(60).column("v").cast(pa.int8())
    land(table.slice(60).set_column(2, "v", narrow).append_column("more", narrow), source, "1.parquet")
    run_to_end(matches, tmp_path)
    assert found(spark, tmp_path) == expected(table, int(table.column("ts").cast(pa.int64())[-1].as_py()))


def test_a_streaming_frame_with_its_own_watermark(spark, tmp_path) -> None:
    table = ticks(120)
    last = int(table.column("ts").cast(pa.int64())[-1].as_py())
    land(table, tmp_path / "in", "0.parquet")
    frame = spark.readStream.schema("ts timestamp, k string, v int").parquet(str(tmp_path / "in"))
    with pytest.raises(UnsupportedError, match="no watermark"):
        on(spark).sql(TEXT, ticks=frame)
    with pytest.raises(UnsupportedError, match="never final"):
        pattern = "PATTERN SEQ(Ticks a, Ticks b) WHERE skip_till_next_match(a, b) { a.v > b.v } WITHIN 5 seconds"
        on(spark).match(pattern, output="count", ticks=frame, lateness=0)
    with pytest.raises(UnsupportedError, match="last row of a partition"):
        on(spark).sql(TEXT.replace("C)", "C $)", 1), ticks=frame, lateness=0)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="cannot read"):
        on(spark).read_stream(str(tmp_path / "empty"))
    assert on(spark).read_stream(str(tmp_path / "empty"), schema="ts timestamp, v int").schema.names == ["ts", "v"]
    frame.withWatermark("ts", "0 seconds").createOrReplaceTempView("ticks")
    run_to_end(on(spark).sql(TEXT), tmp_path)
    spark.catalog.dropTempView("ticks")
    assert found(spark, tmp_path) == expected(table, last)


@pytest.mark.parametrize("time", ["timestamp", "bigint"])
def test_time_goes_on_with_rows_that_match_nothing(spark, tmp_path, time: str) -> None:
    """They are left out before they reach Python, and still they say how far the stream has come. With `lateness=`, and united with a
    stream that has a watermark of its own."""
    micros = pa.array([0, 1_000_000, 60_000_000])
    times, window = (micros, "5000000") if time == "bigint" else (micros.cast(pa.timestamp("us", "UTC")), "5 seconds")
    land(pa.table({"ts": times, "kind": ["A", "A", "other"], "k": ["x", "y", "x"]}), tmp_path / "in", "0.parquet")
    frame = spark.readStream.schema(f"ts {time}, kind string, k string").parquet(str(tmp_path / "in"))
    text = f"PATTERN SEQ(A a, ~(B b)) WHERE [k] WITHIN {window} RETURN a.k"
    found = on(spark).match(text, type_by="kind", events=frame, lateness=2_000_000)
    if time == "timestamp":
        found = found.union(on(spark).match(text, type_by="kind", events=frame.withWatermark("ts", "2 seconds")))
    run_to_end(found, tmp_path)
    found_twice = 2 if time == "timestamp" else 1
    assert sorted(row.k for row in spark.read.parquet(str(tmp_path / "out")).collect()) == [*"x" * found_twice, *"y" * found_twice]
