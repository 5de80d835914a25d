"""Several streams merged by time, and queries over the matches of others, on a real Spark: what the embedded engine finds."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import ostinato as ost
from ostinato.base.errors import UnsupportedError
from ostinato.hosts.spark import on

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600), pytest.mark.filterwarnings("ignore")]

MERGED = """PATTERN SEQ(Orders o, Trades+ t[]) WHERE [k] and t[i].price > o.v WITHIN 6 seconds
    RETURN o.id AS o, sum(t[].price) AS paid, t.LEN AS n"""
RISE = """PATTERN SEQ(Trades x, Trades y) WHERE [k] and y.price > x.price WITHIN 8 seconds
    RETURN Rise(x.k, x.price AS low, y.price AS high)"""
CLIMB = "PATTERN SEQ(Rise p, Rise q) WHERE [k] and q.low >= p.high WITHIN 30 seconds RETURN p.k, p.low, q.high, p.ts AS since"
BESIDE = "PATTERN SEQ(Rise p, Orders o) WHERE [k] and o.v > p.low WITHIN 10 seconds RETURN p.k, p.low, p.high, o.id AS o"
NESTED = """PATTERN AND(Rise p, Orders o, !(Trades t, t.k = p.k AND t.price < p.low), o.k = p.k AND o.v > p.low) WITHIN 10 seconds
    RETURN p.k, p.low, p.high, o.id AS o"""


def times(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Whole seconds in microseconds: no two rows of one stream share a time, those of two streams often do."""
    return np.cumsum(rng.integers(1, 4, rows)) * 1_000_000


def orders(rows: int = 60) -> pa.Table:
    rng = np.random.default_rng(5)
    keys = [f"k{n}" for n in rng.integers(0, 3, rows)]
    placed = pa.array(times(rows, rng), pa.timestamp("us", "UTC"))
    return pa.table({"ts": placed, "k": keys, "v": pa.array(rng.integers(0, 9, rows)), "id": range(rows)})


def trades(rows: int = 60) -> pa.Table:
    rng = np.random.default_rng(6)
    keys = [f"k{n}" for n in rng.integers(0, 3, rows)]
    prices = pa.array(rng.integers(0, 18, rows) / 2)
    return pa.table({"ts": pa.array(times(rows, rng), pa.timestamp("us", "UTC")), "k": keys, "price": prices})


def ended(table: pa.Table) -> pa.Table:
    """With a row of another key, much later, that lets the watermark pass all others."""
    later = table["ts"][-1].as_py() + timedelta(seconds=1000)
    last = {name: [None] for name in table.column_names} | {"ts": [later], "k": ["end"]}
    return pa.concat_tables([table, pa.table(last, schema=table.schema)])


def comparable(rows: list[dict]) -> list[tuple]:
    """Spark gives times without their zone."""
    return sorted(tuple(value.replace(tzinfo=None) if isinstance(value, datetime) else value for value in row.values()) for row in rows)


def embedded(text: str) -> list[tuple]:
    found = comparable(ost.match(text, orders=orders(), trades=trades()).to_arrow().to_pylist())
    assert len(found) > 3
    return found


def write(table: pa.Table, folder: Path, files: int) -> str:
    folder.mkdir()
    size = -(-table.num_rows // files)
    for number in range(files):
        file = folder / f"{number}.parquet"
        pq.write_table(table.slice(number * size, size), file)
        os.utime(file, (1_000_000 + number, 1_000_000 + number))  # a stream takes files in the order of their age
    return str(folder)


def test_batch(spark, tmp_path) -> None:
    engine = on(spark)
    given = {"orders": write(orders(), tmp_path / "orders", 1), "trades": spark.createDataFrame(trades().to_pandas())}
    for text in (MERGED, f"{RISE}; {CLIMB}", f"{RISE};\n{BESIDE}", f"{RISE};\n{NESTED}"):
        assert comparable([row.asDict() for row in engine.match(text, **given).collect()]) == embedded(text), text
    rises = engine.match(RISE, **given)
    found = engine.match(CLIMB, rise=rises)
    assert comparable([row.asDict() for row in found.collect()]) == embedded(f"{RISE}; {CLIMB}")
    assert "spark: by key\n  shuffled by k and sorted\n  one session for 2 patterns (Rise)" in engine.explain(f"{RISE}; {CLIMB}", **given)
    apart = f"{RISE}; {CLIMB.replace('[k] and ', '')}"
    assert comparable([row.asDict() for row in engine.match(apart, **given).collect()]) == embedded(apart)


def streamed(spark, frame, folder: Path) -> list[tuple]:
    writer = frame.writeStream.format("parquet").option("path", str(folder / "out"))
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()
    late = [seen["late_rows"] for progress in query.recentProgress for seen in progress["observedMetrics"].values()]
    assert late and not any(late)
    return comparable([row.asDict() for row in spark.read.parquet(str(folder / "out")).collect()])


def test_streams(spark, tmp_path) -> None:
    """Two streams of different kinds and paces, in one text whose second query reads both the first one's events and a stream."""
    engine = on(spark)
    folders = {"orders": write(ended(orders()), tmp_path / "orders", 2), "trades": write(ended(trades()), tmp_path / "trades", 2)}
    schema = spark.read.parquet(folders["orders"]).schema
    slow = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(folders["orders"])
    given = {"orders": slow, "trades": engine.read_stream(folders["trades"])}
    text = f"{RISE};\n{BESIDE}"
    assert streamed(spark, engine.match(text, lateness="1 second", **given), tmp_path / "beside") == embedded(text)
    text = f"{RISE};\n{NESTED}"
    assert streamed(spark, engine.match(text, lateness="1 second", **given), tmp_path / "nested") == embedded(text)


@pytest.mark.slow
def test_streams_before_1970(spark, tmp_path) -> None:
    """Where Spark's watermark stands still."""
    engine = on(spark)
    old = pa.scalar(timedelta(days=30_000))
    tables = {"orders": orders(), "trades": trades()}
    moved = {name: table.set_column(0, "ts", pc.subtract(table["ts"], old)) for name, table in tables.items()}
    given = {name: engine.read_stream(write(ended(table), tmp_path / name, 2)) for name, table in moved.items()}
    found = streamed(spark, engine.match(MERGED, lateness="1 second", buckets=3, **given), tmp_path / "out")
    assert found == comparable(ost.match(MERGED, **moved).to_arrow().to_pylist()) and len(found) > 3


@pytest.mark.slow
def test_a_stream_of_matches_is_a_stream(spark, tmp_path) -> None:
    engine = on(spark)
    folder = write(ended(trades()), tmp_path / "trades", 2)
    frame = spark.readStream.schema(spark.read.parquet(folder).schema).option("maxFilesPerTrigger", 1).parquet(folder)
    rises = engine.match(RISE, trades=frame.withWatermark("ts", "1 second"))
    assert rises.isStreaming
    assert streamed(spark, engine.match(CLIMB, rise=rises), tmp_path / "climbs") == embedded(f"{RISE}; {CLIMB}")


def test_refused(spark, tmp_path) -> None:
    engine = on(spark)
    folder = write(trades(), tmp_path / "trades", 1)
    stream = spark.readStream.schema(spark.read.parquet(folder).schema).parquet(folder)
    table = spark.createDataFrame(orders().to_pandas())
    with pytest.raises(UnsupportedError, match="'orders' is a table"):
        engine.match(MERGED, orders=table, trades=stream, lateness="1 second")
    with pytest.raises(UnsupportedError, match="stream 'a' has no watermark"):
        engine.match("PATTERN SEQ(a x, b y)", a=stream, b=stream)
    waiting = RISE.replace("WITHIN 8 seconds", "").replace("x.k,", "x.k, x.ts,")
    with pytest.raises(UnsupportedError, match="by no known time"):
        engine.match(f"{waiting}; {CLIMB}", trades=stream, lateness="1 second")
