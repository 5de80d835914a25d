"""Compressed matches from Spark, batch and streaming, decode to those of the embedded host."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ostinato as ost
from ostinato.hosts.spark import on

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

TEXT = """PATTERN SEQ(Ticks+ a[ ], Ticks b) WHERE skip_till_any_match(a[ ], b) { [k] and a[i].v > 3 and b.v < 1 } WITHIN 12 seconds"""


def ticks(rows: int = 300) -> pa.Table:
    rng = np.random.default_rng(7)
    times = pa.array(np.cumsum(rng.integers(1, 3, rows)) * 1_000_000, pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "k": [f"k{n}" for n in rng.integers(0, 5, rows)], "v": pa.array(rng.integers(0, 6, rows), pa.int32())})


def bag(rows: Any) -> list[tuple]:
    """Matches without what numbers them."""
    return sorted(tuple((event["ts"].replace(tzinfo=None), event["k"], event["v"]) for event in (*row["a"], row["b"])) for row in rows)


def test_a_batch(spark, tmp_path) -> None:
    pq.write_table(ticks(), tmp_path / "ticks.parquet")
    wanted = bag(ost.match(TEXT, ticks=ticks()))
    frame = on(spark).match(TEXT, ticks=str(tmp_path), output="compressed")
    assert frame.columns == ["matches"] and len(wanted) > 20
    assert bag(ost.decode(frame.toArrow())) == bag(ost.decode(frame.collect())) == wanted
    assert "spark: time ranges" in on(spark).explain(TEXT, ticks=str(tmp_path), output="compressed")


def test_a_stream(spark, tmp_path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for number in range(3):
        file = source / f"{number}.parquet"
        pq.write_table(ticks().slice(100 * number, 100), file)
        os.utime(file, (1_000_000 + number, 1_000_000 + number))  # a stream takes files in the order of their age
    schema = "ts timestamp, k string, v int"
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(source))
    matches = on(spark).match(TEXT, ticks=stream, output="compressed", lateness="1 second")
    writer = matches.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start().awaitTermination()
    found = bag(ost.decode(spark.read.parquet(str(tmp_path / "out")).toArrow()))
    whole = bag(ost.match(TEXT, ticks=ticks()))
    last = max(time.replace(tzinfo=None) for time in ticks()["ts"].to_pylist())
    late = {match for match in whole if (last - match[-1][0]).total_seconds() <= 2}  # the watermark has not passed these
    assert set(found) <= set(whole) and set(whole) - set(found) <= late and len(found) == len(set(found))
