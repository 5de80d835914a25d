"""SHOW TIMEOUT MATCHES on a real Spark: what the embedded engine finds, in a batch and on a stream, ties by a further column."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

import ostinato as ost
from ostinato.hosts.spark import on

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]

TEXT = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts, id MEASURES FIRST(ts) AS a, LAST(ts) AS z, COUNT(*) AS n
    ONE ROW PER MATCH SHOW TIMEOUT MATCHES PATTERN (A B+ C) WITHIN 6 DEFINE A AS v = 1, B AS v > 0, C AS v > 2)"""
SHOWN = ["k", "a", "z", "n", "timed_out"]


def test_batch_and_stream(spark, tmp_path: Path) -> None:
    rng = random.Random(1)
    times = sorted(rng.randint(0, 200) for _ in range(120))
    rows = {"ts": times, "id": list(range(120)), "k": [rng.choice("xyz") for _ in times], "v": [rng.randint(0, 3) for _ in times]}
    table = pa.table(rows)
    expected = Counter(tuple(row[name] for name in SHOWN) for row in ost.sql(TEXT, t=table).to_arrow().to_pylist())
    assert {timed_out for *_, timed_out in expected} == {False, True}
    assert Counter(map(tuple, on(spark).sql(TEXT, t=spark.createDataFrame(table.to_pandas())).select(*SHOWN).collect())) == expected
    (tmp_path / "in").mkdir()
    end = pa.table({"ts": [1000], "id": [999], "k": ["end"], "v": [0]})
    for number, part in enumerate((table.slice(0, 60), table.slice(60), end)):
        pq.write_table(part.take(rng.sample(range(len(part)), len(part))), tmp_path / "in" / f"{number}.parquet")
    found = on(spark).sql(TEXT, t=on(spark).read_stream(str(tmp_path / "in"), rows_per_batch=60), lateness=0, buckets=2)
    writer = found.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start().awaitTermination()
    assert Counter(map(tuple, spark.read.parquet(str(tmp_path / "out")).select(*SHOWN).collect())) == expected


RUNS = "PATTERN SEQ(A a, B+ b[ ], C c) WHERE skip_till_next_match(a, b[ ], c) {{ {} b[i].v >= a.v }} WITHIN 6 {} OUTPUT timeouts"
RETURNED = "RETURN a.id AS a, sum(b[].id) AS b, b.LEN AS n, c.id AS c"


def test_runs_in_batch_and_stream(spark, tmp_path: Path) -> None:
    rng = random.Random(2)
    times = sorted(rng.sample(range(200), 120))
    rows = {"ts": times, "id": list(range(120)), "k": [rng.choice("xyz") for _ in times], "v": [rng.randint(0, 3) for _ in times]}
    table = pa.table(rows | {"kind": [rng.choice("ABC") for _ in times]})
    text, unkeyed = RUNS.format("[k] AND", RETURNED), RUNS.format("", RETURNED)
    given = {"type_by": "kind", "output": "timeouts"}
    expected, in_all = (
        Counter(tuple(row.values()) for row in ost.match(asked, t=table, **given).to_arrow().to_pylist()) for asked in (text, unkeyed)
    )
    assert {n for _, _, n, _ in expected} >= {0, 1, 2} and {c for *_, c in expected} == {None}
    frame = spark.createDataFrame(table.to_pandas())
    assert Counter(map(tuple, on(spark).match(text, t=frame, **given).collect())) == expected
    assert Counter(map(tuple, on(spark).match(unkeyed, t=frame, **given).collect())) == in_all
    (tmp_path / "in").mkdir()
    end = pa.table({"ts": [1000], "id": [999], "k": ["end"], "v": [0], "kind": ["D"]})
    for number, part in enumerate((table.slice(0, 60), table.slice(60), end)):
        pq.write_table(part, tmp_path / "in" / f"{number}.parquet")
    found = on(spark).match(text, t=on(spark).read_stream(str(tmp_path / "in"), rows_per_batch=60), lateness=0, **given)
    writer = found.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start().awaitTermination()
    assert Counter(map(tuple, spark.read.parquet(str(tmp_path / "out")).collect())) == expected
