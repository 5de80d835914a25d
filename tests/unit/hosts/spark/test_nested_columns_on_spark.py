"""Nested columns go through Spark as through the embedded host: every way to divide a batch, both streaming sources, both languages."""

from __future__ import annotations

import datetime as dt
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ostinato as ost
from ostinato.base.errors import SchemaError
from ostinato.hosts.spark import on

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

START = dt.datetime(2024, 1, 1)
PLACE = pa.struct([("x", pa.float64()), ("zone", pa.string())])
DEVICE = pa.struct([("id", pa.int64()), ("at", PLACE), ("t", pa.timestamp("us"))])
ROWS = 48


def device(i: int):
    return None if i % 11 == 5 else {"id": i % 3, "at": None if i % 7 == 2 else {"x": i / 2, "zone": "nw"[i % 2]}, "t": START}


TABLE = pa.table(
    {
        "ts": pa.array([START + dt.timedelta(seconds=i) for i in range(ROWS)], pa.timestamp("us")),
        "v": pa.array([i % 5 for i in range(ROWS)], pa.int32()),
        "dev": pa.array([device(i) for i in range(ROWS)], DEVICE),
        "tags": pa.array([None if i == 9 else [f"t{i}"] * (i % 3) for i in range(ROWS)], pa.list_(pa.string())),
        "props": pa.array([[("k", [i])] for i in range(ROWS)], pa.map_(pa.string(), pa.list_(pa.int64()))),
        "raw": pa.array([bytes([i]) for i in range(ROWS)], pa.binary()),
    }
)
WHOLE = "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) { [dev.id] and a.v = 0 and b.dev.at.zone = 'n' } WITHIN 9 seconds"
RETURNED = WHOLE + " RETURN a.dev, b.tags, b.props, a.dev.at.zone AS zone, b.raw"
FIELDS = WHOLE + " RETURN b.dev.at.x AS x, a.ts AS a"  # no struct goes to Python
SHOWN = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY dev.id ORDER BY ts MEASURES LAST(dev) AS d, FIRST(A.props) AS p
    ALL ROWS PER MATCH PATTERN (A B+) WITHIN INTERVAL '9' SECOND DEFINE B AS v > PREV(v))"""


def plain(value):
    """As both sides show it: without match_id and seq, maps as dictionaries."""
    if hasattr(value, "asDict"):
        value = value.asDict()
    if isinstance(value, list) and value and isinstance(value[0], tuple) and not hasattr(value[0], "asDict"):
        value = dict(value)
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items() if name not in ("match_id", "seq")}
    return [plain(item) for item in value] if isinstance(value, list) else bytes(value) if isinstance(value, bytearray) else value


def rows(found) -> list[str]:
    return sorted(str(plain(row)) for row in found)


def expected(text: str) -> list[str]:
    found = ost.sql(text, t=TABLE) if "SELECT" in text else ost.match(text, t=TABLE)
    assert len(found) > 5
    return rows(found)


def test_batches(spark, tmp_path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet", row_group_size=12)
    frame = spark.read.parquet(str(tmp_path / "t.parquet"))
    engine = on(spark)
    for text in (WHOLE, RETURNED, FIELDS, SHOWN):
        wanted = expected(text)
        run = engine.sql if text is SHOWN else engine.match
        assert rows(run(text, t=frame).collect()) == wanted
        assert rows(run(text, t=frame.repartition(3)).collect()) == wanted
    assert "spark: time ranges" in engine.explain(RETURNED, t=frame)
    assert engine.match(RETURNED, t=frame).schema["props"].dataType == frame.schema["props"].dataType


def test_several_streams_and_a_column_with_a_dot_in_its_name(spark, tmp_path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    frame = spark.read.parquet(str(tmp_path / "t.parquet"))
    other = TABLE.rename_columns(["at", *TABLE.column_names[1:]]).append_column("v.w", TABLE["v"])
    text = """PATTERN SEQ(t a, u b) WHERE skip_till_any_match(a, b) { a.v = 0 and b."v.w" = 1 and b.dev.id = a.dev.id } WITHIN 9 seconds
        RETURN a.dev.at.zone AS zone, b.tags, b.dev.id"""
    renamed = frame.withColumnRenamed("ts", "at").withColumn("v.w", frame["v"])
    found = on(spark).match(text, t=frame, u=renamed, time={"u": "at"}).collect()
    assert rows(found) == rows(ost.match(text, t=TABLE, u=other, time={"u": "at"})) and len(found) > 3


def sources(spark, folder):
    """Spark's own source, and ours."""
    folder.mkdir(exist_ok=True)
    for part in range(3):
        pq.write_table(TABLE.slice(part * 16, 16), folder / f"{part}.parquet")
        os.utime(folder / f"{part}.parquet", (1_000_000 + part, 1_000_000 + part))  # a stream takes files in the order of their age
    known = spark.read.parquet(str(folder)).schema
    frames = spark.readStream.schema(known).option("maxFilesPerTrigger", 1).parquet(str(folder))
    return frames, on(spark).read_stream(str(folder), rows_per_batch=20)


def check_stream(spark, source, text: str, folder) -> None:
    engine = on(spark)
    found = (engine.sql if text is SHOWN else engine.match)(text, t=source, lateness="1 seconds", buckets=2)
    assert decided(spark, found, folder, text)


CARRIED = """SELECT dev_1, last, tags, props, raw FROM
    FILTER {DUR < 9 SECONDS} ((SELECT dev, tags, props, raw, dev AS last FROM FILTER {v = 0} (t))
    FOLD {$2.dev.id = $.dev.id, $2.dev.id < 2, $2.dev AS last} (SELECT dev FROM t))"""
COMPOSED = """SELECT dev, tags, at AS place FROM (SELECT dev, tags, dev.at AS at, v FROM t) NEXT {$2.w = $1.v} (SELECT v AS w FROM t)
    PUBLISH p;
    SELECT dev_1, dev, place.zone AS zone, tags FROM p NEXT {$2.dev.id = $1.dev.id} (SELECT dev FROM t)"""


MADE = """SELECT path, last FROM FILTER {DUR < 6 SECONDS} ((SELECT v, dev.at.zone AS zone, 'w' AS path, dev AS last FROM t)
    FOLD {$2.v > $.v, length($.path) < 9, $.path || '>' || coalesce($2.zone, $.last.at.zone, CAST($2.v AS VARCHAR)) AS path}
    (SELECT v, dev.at.zone AS zone FROM t))"""


@pytest.mark.parametrize("text", [CARRIED, COMPOSED, MADE])
def test_what_instances_carry(spark, tmp_path, text) -> None:
    wanted = rows(ost.match(text, language="cel", t=TABLE))
    assert len(wanted) > 5
    pq.write_table(TABLE, tmp_path / "t.parquet", row_group_size=12)
    frame = spark.read.parquet(str(tmp_path / "t.parquet"))
    assert rows(on(spark).match(text, language="cel", t=frame).collect()) == wanted
    assert rows(on(spark).match(text, language="cel", t=frame.repartition(3)).collect()) == wanted


@pytest.mark.slow
def test_what_instances_carry_on_streams(spark, tmp_path) -> None:
    frames, _ = sources(spark, tmp_path / "in")
    for number, text in enumerate((CARRIED, COMPOSED)):
        wanted = rows(ost.match(text, language="cel", t=TABLE))
        found = on(spark).match(text, language="cel", t=frames, lateness="1 seconds", buckets=2)
        folder = tmp_path / str(number)
        writer = found.writeStream.format("parquet").option("path", str(folder / "out")).option("checkpointLocation", str(folder / "cp"))
        writer.trigger(availableNow=True).start().awaitTermination()
        given = rows(spark.read.parquet(str(folder / "out")).collect())
        assert set(given) <= set(wanted) and len(wanted) // 2 < len(given) <= len(wanted)


@pytest.mark.slow
def test_streams(spark, tmp_path) -> None:
    frames, files = sources(spark, tmp_path / "in")
    check_stream(spark, frames, RETURNED, tmp_path / "1")
    check_stream(spark, files, SHOWN, tmp_path / "2")


@pytest.mark.slow
def test_more_streams(spark, tmp_path) -> None:
    frames, files = sources(spark, tmp_path / "in")
    check_stream(spark, files, WHOLE, tmp_path / "1")
    check_stream(spark, frames, FIELDS, tmp_path / "2")


def decided(spark, found, folder, text: str) -> bool:
    """All that is reported is what the batch reports, and that is most of it: the tail waits for a watermark."""
    writer = found.writeStream.format("parquet").option("path", str(folder / "out")).option("checkpointLocation", str(folder / "cp"))
    writer.trigger(availableNow=True).start().awaitTermination()
    given, wanted = rows(spark.read.parquet(str(folder / "out")).collect()), expected(text)
    return set(given) <= set(wanted) and len(set(given)) == len(given) and len(given) > len(wanted) // 2


def test_what_arrow_has_no_type_for_is_refused_and_not_left_out(spark) -> None:
    frame = spark.sql("SELECT timestamp_ntz'2024-01-01 00:00:00' AS ts, 1 AS v, parse_json('{}') AS odd")
    with pytest.raises(SchemaError, match="odd"):
        on(spark).match("PATTERN SEQ(t a)", t=frame)
    assert on(spark).match("PATTERN SEQ(t a) RETURN a.v", t=frame).collect()[0][0] == 1
