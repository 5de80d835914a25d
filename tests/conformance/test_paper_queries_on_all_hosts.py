"""The three queries of the SASE+ paper, letter by letter as Figure 1 prints them, over a stream for each event type: embedded, Spark
batch and Spark streaming, with rows out of order and rows that come too late. What they find is what the definition says."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.lang.sase.test_paper_queries import QUERY_1, QUERY_2, QUERY_3

import ostinato as ost
from ostinato import reference

START = datetime(2026, 1, 1)
LATENESS = timedelta(hours=1)
TIME = pa.timestamp("us")
READING = pa.schema([("ts", TIME), ("tag_id", pa.int64())])
ALERT = pa.schema([("ts", TIME), ("type", pa.string()), ("site", pa.string())])
SHIPMENT = pa.schema([("ts", TIME), ("from", pa.string()), ("to", pa.string())])
STOCK = pa.schema([("ts", TIME), ("symbol", pa.string()), ("price", pa.float64()), ("volume", pa.int64())])

# the text, its streams, and a row that would begin matches if it did not come too late
QUERIES = {
    "Query 1": (QUERY_1, {"shelf": READING, "register": READING, "exit": READING}, ("shelf", {"tag_id": 3})),
    "Query 2": (QUERY_2, {"alert": ALERT, "shipment": SHIPMENT}, ("alert", {"type": "contaminated", "site": "s1"})),
    "Query 3": (QUERY_3, {"stock": STOCK}, ("stock", {"symbol": "k1", "price": 1.0, "volume": 9000})),
}
Streams = dict[str, pa.Table]
Found = list[tuple[Any, ...]]


def streams_of(name: str) -> Streams:
    """No two events at the same time, in any of the streams: on Spark their order would be open."""
    _, schemas, _ = QUERIES[name]
    rng = np.random.default_rng(7)
    kinds = rng.choice(list(schemas), 160, p=(0.15, 0.85) if name == "Query 2" else None)
    rows: dict[str, list[dict[str, Any]]] = {stream: [] for stream in schemas}
    time = START
    for kind in kinds:
        time += timedelta(seconds=int(rng.integers(60, 1200 if name != "Query 3" else 400)))
        rows[kind].append({"ts": time, **_attributes(schemas[kind].names, rng)})
    return {stream: pa.Table.from_pylist(found, schemas[stream]) for stream, found in rows.items()}


def _attributes(names: list[str], rng: np.random.Generator) -> dict[str, Any]:
    site, symbol = rng.integers(0, 5, 2), rng.integers(0, 2)
    possible = {
        "tag_id": int(rng.integers(0, 6)), "type": str(rng.choice(["contaminated", "delayed"])), "site": f"s{site[0]}",
        "from": f"s{site[0]}", "to": f"s{site[1]}",
        "symbol": f"k{symbol}", "price": float(rng.integers(90, 130)), "volume": int(rng.integers(500, 1100)),
    }  # fmt: skip
    return {name: value for name, value in possible.items() if name in names}


def meaning(name: str, streams: Streams) -> Found:
    """By the definition, over one stream of all events. Events are known by their times."""
    rows = sorted(({"kind": stream, **row} for stream, table in streams.items() for row in table.to_pylist()), key=lambda row: row["ts"])
    text, schemas, _ = QUERIES[name]
    columns = {field.name: field for schema in schemas.values() for field in schema}
    for stream in schemas:
        text = text.replace(stream.capitalize(), stream)
    query = ost.compile(text, {"events": pa.schema([("kind", pa.string()), *columns.values()])}, type_by="kind").algebra
    complete = [{column: row.get(column) for column in ("kind", *columns)} for row in rows]
    found = [[rows[place]["ts"] for place in match.positions] for match in reference.evaluate(query, complete)]
    assert len(found) > 4
    return sorted(map(tuple, found))


def times_in(rows: list[dict[str, Any]]) -> Found:
    found = []
    for row in rows:
        held = [value for variable, value in row.items() if variable in "abc"]
        events = [event for value in held for event in (value if isinstance(value, list) else [value])]
        found.append(tuple(event["ts"].replace(tzinfo=None) for event in events))
    return sorted(found)


def disordered(table: pa.Table) -> pa.Table:
    """Each row is held up for less than the lateness."""
    held_up = np.random.default_rng(0).integers(0, LATENESS // timedelta(seconds=1), table.num_rows) * 1_000_000
    return table.take(np.argsort(table.column("ts").cast(pa.int64()).to_numpy() + held_up, kind="stable"))


@pytest.mark.parametrize("name", QUERIES)
def test_embedded(name: str) -> None:
    streams = streams_of(name)
    expected = meaning(name, streams)
    assert times_in(ost.match(QUERIES[name][0], **streams).to_arrow().to_pylist()) == expected
    arriving = {stream: with_late_row(name, stream, disordered(table)) for stream, table in streams.items()}
    found, metrics = as_it_arrives(QUERIES[name][0], arriving)
    assert times_in(found) == expected
    assert metrics["late_rows"] == 1


def as_it_arrives(text: str, streams: Streams) -> tuple[list[dict[str, Any]], dict[str, int]]:
    if len(streams) > 1:
        result = ost.match(text, lateness=LATENESS, **streams)
        return result.to_arrow().to_pylist(), result.metrics
    ((name, table),) = streams.items()
    session = ost.compile(text, {name: table.schema}).open(lateness=LATENESS // timedelta(microseconds=1))
    found = [row for batch in table.to_batches(max_chunksize=9) for row in session.push(batch).to_pylist()]
    return found + session.close().to_pylist(), session.metrics()


def with_late_row(name: str, stream: str, table: pa.Table) -> pa.Table:
    """One row of the stream comes at its end, long after its time."""
    _, schemas, (late_stream, values) = QUERIES[name]
    if stream != late_stream:
        return table
    late = pa.Table.from_pylist([{"ts": START + timedelta(seconds=1), **values}], schemas[stream])
    return pa.concat_tables([table, late])


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", QUERIES)
def test_spark_batch(spark, name: str) -> None:
    from ostinato.hosts.spark import on

    streams = streams_of(name)
    frames = {stream: spark.createDataFrame(table.to_pandas()) for stream, table in streams.items()}
    rows = [row.asDict(recursive=True) for row in on(spark).match(QUERIES[name][0], **frames).collect()]
    assert times_in(rows) == meaning(name, streams)


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.slow  # Query 1, which is not, is in test_shoplifting.py
@pytest.mark.parametrize("name", ["Query 2", "Query 3"])
def test_spark_streaming(spark, tmp_path: Path, name: str) -> None:
    from ostinato.hosts.spark import on

    streams = streams_of(name)
    given = {stream: on(spark).read_stream(land(name, stream, table, tmp_path), rows_per_batch=1) for stream, table in streams.items()}
    matches = on(spark).match(QUERIES[name][0], lateness="1 hour", **given)
    writer = matches.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()
    rows = [row.asDict(recursive=True) for row in spark.read.parquet(str(tmp_path / "out")).collect()]
    assert times_in(rows) == meaning(name, streams)
    assert sum(seen["late_rows"] for progress in query.recentProgress for seen in progress["observedMetrics"].values()) == 1


def land(name: str, stream: str, table: pa.Table, folder: Path) -> str:
    """Two files in disorder, then one with a row that is too late, and one far ahead that lets the watermark pass all others."""
    rows = disordered(table)
    end = pa.Table.from_pylist([{"ts": table["ts"][-1].as_py() + timedelta(days=9)}], table.schema)
    half = rows.num_rows // 2
    (folder / stream).mkdir()
    for number, part in enumerate((rows.slice(0, half), rows.slice(half), with_late_row(name, stream, end))):
        file = folder / stream / f"{number}.parquet"
        pq.write_table(part, file)
        os.utime(file, (1_000_000 + number, 1_000_000 + number))  # a stream takes files in the order of their age
    return str(folder / stream)
