"""Situations as tables and streams, on a real Spark: what the embedded engine finds, in batches and on streams."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ostinato as ost
from ostinato.hosts.spark import on

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600), pytest.mark.filterwarnings("ignore")]

PHASES = """SITUATIONS OF cars (PARTITION BY car ORDER BY ts DEFINE Fast AS speed > 70 AT LEAST 2 SECONDS, Wet AS wet
    MEASURES count(*) AS n, max(speed) AS top, first(Fast.speed) AS begun)"""
BEHIND = f"""SELECT * FROM {PHASES} p MATCH_RECOGNIZE (PARTITION BY car ORDER BY end_ts, start_ts
    MEASURES A.top AS top, LAST(B.end_ts) AS end_ts
    PATTERN (A B) WITHIN INTERVAL '30' SECOND DEFINE A AS situation = 'Fast', B AS situation = 'Wet')"""
RELATED = f"""SELECT f.car, f.start_ts AS fast, w.start_ts AS wet FROM {PHASES} f JOIN {PHASES} w
    ON f.car = w.car AND f.situation = 'Fast' AND w.situation = 'Wet' AND ALLEN(f, 'overlaps[1 SECOND, 1 MINUTE];during;finished by', w)"""
TEXT = """FROM cars PARTITION BY car DEFINE Fast AS speed > 70 AT LEAST 2 SECONDS, Wet AS wet RETURN max(speed) AS top PUBLISH Phases;
    FROM Phases PARTITION BY car DEFINE F AS situation = 'Fast', W AS situation = 'Wet'
    PATTERN F overlaps;during;finished by;before[0 SECONDS, 9 SECONDS] W WITHIN 1 MINUTE RETURN first(F.car) AS car, first(F.top) AS top"""
MIXED = """FROM cars PARTITION BY car DEFINE Fast AS speed > 70, Wet AS wet RETURN max(speed) AS top PUBLISH Phases;
    PATTERN SEQ(Phases a, Phases b) WHERE [car] AND a.situation = 'Fast' AND b.situation = 'Wet' WITHIN 20 seconds
    RETURN a.car AS car, a.top AS top"""


def cars(rows: int = 240) -> pa.Table:
    rng = np.random.default_rng(8)
    times = np.arange(rows) * 1_000_000
    return pa.table({
        "ts": pa.array(times, pa.timestamp("us", "UTC")),
        "car": [f"c{n}" for n in np.arange(rows) % 3],
        "speed": 70 + 15 * np.sin(np.arange(rows) // 3 / 3.0) + rng.integers(0, 4, rows),
        "wet": (np.arange(rows) // 3 + rng.integers(0, 2, rows)) % 9 < 4,
    })  # fmt: skip


def comparable(rows: list[dict]) -> list[tuple]:
    """Spark gives times without their zone."""
    return sorted(tuple(value.replace(tzinfo=None) if isinstance(value, datetime) else value for value in row.values()) for row in rows)


def embedded(text: str, table: pa.Table | None = None) -> list[tuple]:
    table = cars() if table is None else table
    found = ost.sql(text, cars=table) if text.startswith("SELECT") else ost.match(text, cars=table)
    rows = comparable(found.to_arrow().to_pylist())
    assert len(rows) > 3, text
    return rows


def test_batch(spark, tmp_path: Path) -> None:
    engine = on(spark)
    pq.write_table(cars(), tmp_path / "cars.parquet")
    frame = spark.read.parquet(str(tmp_path / "cars.parquet"))
    for text in (f"SELECT * FROM {PHASES}", BEHIND, RELATED):
        assert comparable([row.asDict() for row in engine.sql(text, cars=frame).collect()]) == embedded(text), text
    for text in (TEXT, MIXED):
        assert comparable([row.asDict() for row in engine.match(text, cars=frame).collect()]) == embedded(text), text
    assert "each situation is a result by itself" in engine.explain(BEHIND, cars=frame)


def ended(table: pa.Table) -> pa.Table:
    """With a row of another key, much later, that lets the watermark pass all others."""
    later = table["ts"][-1].as_py() + timedelta(seconds=1000)
    last = {"ts": [later], "car": ["end"], "speed": [0.0], "wet": [False]}
    return pa.concat_tables([table, pa.table(last, schema=table.schema)])


@pytest.mark.parametrize("text", [f"SELECT * FROM {PHASES}", BEHIND, TEXT], ids=["situations", "then rows", "then a pattern"])
def test_stream(spark, tmp_path: Path, text: str) -> None:
    """Files come one after the other; what is open at the last watermark waits."""
    engine, table = on(spark), ended(cars())
    (tmp_path / "in").mkdir()
    for number in range(4):
        file = tmp_path / "in" / f"{number}.parquet"
        pq.write_table(table.slice(number * 61, 61), file)
        os.utime(file, (1_000_000 + number, 1_000_000 + number))
    stream = spark.readStream.schema(spark.read.parquet(str(tmp_path / "in")).schema).option("maxFilesPerTrigger", 1)
    frame = stream.parquet(str(tmp_path / "in")).withWatermark("ts", "1 second")
    found = engine.sql(text, cars=frame) if text.startswith("SELECT") else engine.match(text, cars=frame)
    writer = found.writeStream.format("parquet").option("path", str(tmp_path / "out")).option("checkpointLocation", str(tmp_path / "state"))
    writer.trigger(availableNow=True).start().awaitTermination()
    rows = [row.asDict() for row in spark.read.parquet(str(tmp_path / "out")).collect()]
    assert comparable(rows) == embedded(text)


UNKEYED = """FROM cars DEFINE Fast AS speed > 78, Wet AS wet AND car <> 'c1' AT LEAST 2 SECONDS, Slow AS speed < PREV(speed)
    PATTERN Fast overlaps;during;contains;before Wet AND Wet overlaps;before;meets;contains Slow
    WITHIN 12 SECONDS RETURN avg(Fast.speed) AS speed"""
RARE = "FROM cars DEFINE Fast AS speed > 86, Slow AS speed < 56 PATTERN Fast before Slow WITHIN 1 MINUTE RETURN max(Fast.speed) AS top"


@pytest.mark.parametrize(("text", "source"), [(UNKEYED, "frame"), (RARE, "files")], ids=["with PREV", "rare"])
def test_stream_without_a_key(spark, tmp_path: Path, text: str, source: str) -> None:
    """Conditions are evaluated before rows come to the one bucket; rows come up to five seconds late."""
    engine, table = on(spark), cars(1200)
    rng = np.random.default_rng(3)
    mixed = table.take(np.argsort(np.arange(1200) + rng.uniform(0, 5, 1200), kind="stable"))
    (tmp_path / "in").mkdir()
    for number in range(4):
        pq.write_table(mixed.slice(number * 300, 300), tmp_path / "in" / f"{number}.parquet", row_group_size=120)
        os.utime(tmp_path / "in" / f"{number}.parquet", (1_000_000 + number, 1_000_000 + number))
    if source == "files":
        stream = engine.read_stream(str(tmp_path / "in"), rows_per_batch=600, ends=True)
    else:
        schema = spark.read.parquet(str(tmp_path / "in")).schema
        stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 2).parquet(str(tmp_path / "in"))
    assert "conditions are evaluated by the tasks that read the rows" in engine.explain(text, cars=stream)
    found = engine.match(text, cars=stream, lateness="6 seconds")
    writer = found.writeStream.format("parquet").option("path", str(tmp_path / "out")).option("checkpointLocation", str(tmp_path / "state"))
    writer.trigger(availableNow=True).start().awaitTermination()
    rows = [row.asDict() for row in spark.read.parquet(str(tmp_path / "out")).collect()]
    if source == "frame":  # what the end decides is in the stored state
        rows += [row.asDict() for row in engine.match(text, cars=stream, lateness="6 seconds", tail_of=str(tmp_path / "state")).collect()]
    assert comparable(rows) == embedded(text, table)
