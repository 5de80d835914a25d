"""Functions of users on a real Spark: they travel with the program, to batches and to streams."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.unit.registered_functions import DOUBLE, forgotten_afterwards

import ostinato as ost
from ostinato.compiler import compile
from ostinato.hosts.spark import on
from ostinato.tasks.ranges import time_ranges

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

TEXT = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
  MEASURES A.ts AS since, B.v AS v, far(A.v, B.v) AS d
  AFTER MATCH SKIP TO NEXT ROW PATTERN (A X* B) WITHIN INTERVAL '20' SECOND
  DEFINE A AS calm(k, v), X AS far(A.v, X.v) < 3, B AS far(A.v, B.v) >= 3)"""


@pytest.fixture(autouse=True)
def _registered():
    """Functions of this module, which Spark's workers cannot import: closures travel by themselves."""
    limit = 2.0

    def calm(k: pa.Array, v: pa.Array) -> pa.Array:
        return pc.and_(pc.less(v, limit), pc.not_equal(k, "k0"))

    def far(x: float, y: float) -> float:
        return math.fabs(x - y)

    with forgotten_afterwards():
        ost.functions.register("calm", calm, takes=[pa.string(), DOUBLE], returns=pa.bool_())
        ost.functions.register("far", far, takes=[DOUBLE, DOUBLE], returns=DOUBLE, compiled=True)
        yield


def ticks(rows: int) -> pa.Table:
    rng = np.random.default_rng(3)
    columns = {
        "ts": pa.array(np.cumsum(rng.integers(1, 3, rows)) * 1_000_000, pa.timestamp("us", "UTC")),
        "k": pa.array([f"k{n}" for n in rng.integers(0, 4, rows)]),
        "v": pa.array(rng.integers(0, 6, rows).astype(np.float64)),
    }
    return pa.table(columns)


def bag(table: pa.Table) -> list[tuple]:
    return sorted((row["k"], row["since"].replace(tzinfo=None), row["v"], row["d"]) for row in table.to_pylist())


def test_batch(spark, tmp_path, monkeypatch) -> None:
    """By key, and in time ranges of files: two ways on which programs travel."""
    monkeypatch.setattr(time_ranges, "SMALLEST_RANGE", 100)
    monkeypatch.setattr(time_ranges, "ROWS_PER_RANGE", 150)
    table = ticks(400)
    pq.write_table(table, tmp_path / "ticks.parquet", row_group_size=50)
    expected = bag(ost.sql(TEXT, ticks=table).to_arrow())
    frame = spark.read.parquet(str(tmp_path))
    assert expected and expected[0][0] == "k1"
    for path in ("by key", "time ranges"):
        assert bag(on(spark).sql(TEXT, ticks=frame, path=path).toArrow()) == expected


def test_stream(spark, tmp_path) -> None:
    table = ticks(300)
    source = Path(tmp_path / "in")
    source.mkdir()
    for number in range(3):
        pq.write_table(table.slice(number * 100, 100), source / f"{number}.parquet")
    stream = on(spark).read_stream(str(source), rows_per_batch=100, ends=True)
    matches = on(spark).sql(TEXT, ticks=stream, lateness="0 seconds", buckets=2)
    writer = matches.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start().awaitTermination()
    session = compile(TEXT, {"ticks": table.schema}).open()
    expected = pa.concat_tables([session.push(table), session.close()])
    assert bag(spark.read.parquet(str(tmp_path / "out")).toArrow()) == bag(expected)
