"""Timeouts on a real Spark, batch and stream: what the embedded engine finds. Rows of the row pattern have ties, which a column decides."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable
from functools import reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import ostinato as ost
from ostinato.hosts.spark import on

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]

TEXT = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY tied, id MEASURES FIRST(tied) AS a, LAST(tied) AS z, COUNT(*) AS n
    ONE ROW PER MATCH SHOW TIMEOUT MATCHES PATTERN (A B+ C) WITHIN 3 DEFINE A AS v = 1, B AS v > 0, C AS v > 2)"""
RUNS = "PATTERN SEQ(A a, B+ b[ ], C c) WHERE skip_till_next_match(a, b[ ], c) {{ {} b[i].v >= a.v }} WITHIN 6 {} OUTPUT timeouts"
RETURNED = "RETURN a.id AS a, sum(b[].id) AS b, b.LEN AS n, c.id AS c"
EVENTS = {"type_by": "kind", "output": "timeouts"}


def ticks(rng: random.Random) -> pa.Table:
    times = sorted(rng.sample(range(200), 120))
    rows = {"ts": times, "id": list(range(120)), "k": [rng.choice("xyz") for _ in times], "v": [rng.randint(0, 3) for _ in times]}
    return pa.table(rows | {"kind": [rng.choice("ABC") for _ in times], "tied": [time // 2 for time in times]})


def together(*frames: DataFrame) -> DataFrame:
    """Rows of any columns as one text each."""
    return reduce(DataFrame.union, (frame.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("row")) for frame in frames))


def counted(rows: Iterable[dict]) -> Counter:
    return Counter(tuple(row.items()) for row in rows)


def test_batch_and_stream(spark, tmp_path: Path) -> None:
    """Of a row pattern and of runs, with and without keys: all in one job, and those with keys in one streaming query."""
    rng = random.Random(2)
    table, engine = ticks(rng), on(spark)
    keyed, unkeyed = RUNS.format("[k] AND", RETURNED), RUNS.format("", RETURNED)
    of_rows = ost.sql(TEXT, t=table).to_arrow().to_pylist()
    of_runs, in_all = (ost.match(text, t=table, **EVENTS).to_arrow().to_pylist() for text in (keyed, unkeyed))
    assert {row["timed_out"] for row in of_rows} == {False, True}
    assert {row["n"] for row in of_runs} >= {0, 1, 2} and {row["c"] for row in of_runs} == {None}
    frame = spark.createDataFrame(table.to_pandas())
    found = together(engine.sql(TEXT, t=frame), engine.match(keyed, t=frame, **EVENTS), engine.match(unkeyed, t=frame, **EVENTS))
    assert counted(json.loads(row.row) for row in found.collect()) == counted([*of_rows, *of_runs, *in_all])
    (tmp_path / "in").mkdir()
    end = pa.table({"ts": [1000], "id": [999], "k": ["end"], "v": [0], "kind": ["D"], "tied": [500]})
    for number, part in enumerate((table.slice(0, 60), table.slice(60), end)):
        pq.write_table(part.take(rng.sample(range(len(part)), len(part))), tmp_path / "in" / f"{number}.parquet")
    stream = engine.read_stream(str(tmp_path / "in"), rows_per_batch=60)
    found = together(engine.sql(TEXT, t=stream, lateness=0, buckets=2), engine.match(keyed, t=stream, lateness=0, **EVENTS))
    writer = found.writeStream.format("text").option("path", str(tmp_path / "out"))
    writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start().awaitTermination()
    streamed = (json.loads(row.value) for row in spark.read.text(str(tmp_path / "out")).collect())
    assert counted(streamed) == counted([*of_rows, *of_runs])
