"""Query 1 of the SASE+ paper as it is written, on every host: picked from a shelf, taken out of the store, and not paid in between."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ostinato as ost
from ostinato import reference
from ostinato.algebra.query import MatchQuery
from ostinato.compiler import compile

TEXT = """
PATTERN SEQ(Shelf a, ∼(Register b), Exit c)
WHERE   skip_till_next_match(a, b, c) {
            a.tag_id = b.tag_id
        and a.tag_id = c.tag_id
        /* equivalently, [tag_id] */ }
WITHIN  12 hours
"""
PAID_OR_NOT = "PATTERN SEQ(Shelf a, Exit c) WHERE skip_till_next_match(a, c) { a.tag_id = c.tag_id } WITHIN 12 hours"
NOT_YET_LEFT = """
PATTERN SEQ(Shelf a, ∼(Exit c))
WHERE   skip_till_next_match(a, c) { [tag_id] }
WITHIN  2 hours
"""
HOUR = 3_600_000_000
LATENESS = 2 * HOUR


def readings(rows: int = 240) -> pa.Table:
    """No two at the same time: disorder would change their order."""
    rng = np.random.default_rng(11)
    times = 1_700_000_000_000_000 + np.cumsum(rng.integers(60, 1800, rows)) * 1_000_000
    kinds = rng.choice(["Shelf", "Register", "Exit"], rows, p=[0.4, 0.25, 0.35])
    return pa.table({
        "ts": pa.array(times, pa.timestamp("us", "UTC")),
        "kind": pa.array(kinds.tolist()),
        "tag_id": pa.array(rng.integers(0, 12, rows), pa.int64()),
    })  # fmt: skip


def meaning(text: str, table: pa.Table) -> MatchQuery:
    return compile(text, {"readings": table.schema}, type_by="kind").algebra


def expected(text: str, table: pa.Table) -> list[tuple]:
    rows = table.to_pylist()
    return sorted(tuple(rows[place]["ts"] for place in match.positions) for match in reference.evaluate(meaning(text, table), rows))


def found(rows: list[dict], names: str) -> list[tuple]:
    return sorted(tuple(row[name]["ts"] for name in names) for row in rows)


@pytest.mark.parametrize("batch", [240, 7])
def test_embedded(batch: int) -> None:
    table = readings()
    matches = ost.match(TEXT, readings=table, type_by="kind").to_arrow().to_pylist()
    assert found(matches, "ac") == expected(TEXT, table)
    assert 5 < len(matches) < len(expected(PAID_OR_NOT, table))
    session = compile(TEXT, {"readings": table.schema}, type_by="kind").open(lateness=LATENESS)
    outputs = [session.push(part) for part in disordered(table).to_batches(max_chunksize=batch)] + [session.close()]
    assert found(pa.concat_tables(outputs).to_pylist(), "ac") == expected(TEXT, table)
    assert session.metrics()["late_rows"] == 0


def disordered(table: pa.Table) -> pa.Table:
    """Rows come up to five places late, which is less than the lateness."""
    places = np.arange(table.num_rows) + np.random.default_rng(0).integers(0, 5, table.num_rows)
    return table.take(np.argsort(places, kind="stable"))


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", [None, "one partition"])
def test_spark_batch(spark, tmp_path: Path, path: str | None) -> None:
    from ostinato.hosts.spark import on

    table = readings()
    pq.write_table(table, tmp_path / "readings.parquet", row_group_size=20)
    frame = spark.read.parquet(str(tmp_path / "readings.parquet"))
    for text, names in ((TEXT, "ac"), (NOT_YET_LEFT, "a")):
        rows = [row.asDict(recursive=True) for row in on(spark).match(text, readings=frame, type_by="kind", path=path).collect()]
        assert found(utc(rows), names) == expected(text, table)


def utc(rows: list[dict]) -> list[dict]:
    """Spark's rows have no zone."""
    stamp = readings(1).schema.field("ts").type
    return [{name: {"ts": pa.scalar(event["ts"], stamp).as_py()} for name, event in row.items() if isinstance(event, dict)} for row in rows]


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("text", "names"), [(TEXT, "ac"), pytest.param(NOT_YET_LEFT, "a", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_spark_streaming_out_of_order_with_a_restart(spark, tmp_path: Path, text: str, names: str) -> None:
    """What the watermark has decided is there after each run, and only that; a later run goes on from the checkpoint."""
    from ostinato.hosts.spark import on

    table = readings()
    rows = disordered(table)
    seen = []
    for number, (first, end) in enumerate([(0, 120), (120, 240)]):
        land(rows.slice(first, end - first), tmp_path / "in", f"{number}.parquet")
        stream = on(spark).read_stream(str(tmp_path / "in"), rows_per_batch=80)
        matches = on(spark).match(text, readings=stream, type_by="kind", lateness="2 hours", buckets=3)
        writer = matches.writeStream.format("parquet").option("path", str(tmp_path / "out"))
        writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start().awaitTermination()
        out = [row.asDict(recursive=True) for row in spark.read.parquet(str(tmp_path / "out")).collect()]
        seen.append(found(utc(out), names))
    watermark = int(table.column("ts").cast(pa.int64())[-1].as_py()) - LATENESS
    session = compile(text, {"readings": table.schema}, type_by="kind").open(lateness=None)
    decided = pa.concat_tables([session.push(table), session.advance(watermark)]).to_pylist()
    assert seen[-1] == found(decided, names)
    assert 0 < len(seen[0]) < len(seen[1])
    assert set(seen[-1]) <= set(expected(text, table))


def land(table: pa.Table, folder: Path, name: str) -> None:
    folder.mkdir(exist_ok=True)
    pq.write_table(table, folder / ("_" + name))
    os.rename(folder / ("_" + name), folder / name)
