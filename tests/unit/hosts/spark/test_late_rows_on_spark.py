"""Late rows of a stream as rows of the result, with the reason; and a stream goes on with the lateness that it began with."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

from pyspark.errors import StreamingQueryException

from ostinato.base.errors import DataError, SchemaError, UnsupportedError
from ostinato.compiler import compile
from ostinato.hosts.spark import on
from ostinato.hosts.spark.streaming.late_output import beside, with_late_rows

TEXT = "PATTERN SEQ(ticks a, ticks b) WHERE [k] WITHIN 5 RETURN a.v AS a, b.v AS b"


def ticks(*rows: tuple[int, str, int]) -> pa.Table:
    times, keys, values = zip(*rows, strict=True)
    return pa.table({"ts": pa.array(times, pa.int64()), "k": list(keys), "v": pa.array(values, pa.int32())})


def test_a_row_is_a_match_or_late() -> None:
    reads = compile(TEXT, {"ticks": ticks((1, "x", 1)).schema}).pattern.reads
    output = pa.schema([pa.field("a", pa.int32(), nullable=False), ("b", pa.int32())])
    schema = with_late_rows(output, reads)
    missed = ticks((3, "y", 7)).append_column("reason", pa.array(["before the watermark 5"]))
    rows = beside(pa.table({"a": [1], "b": [2]}, schema=output), missed, schema).to_pylist()
    late = {"ts": 3, "k": "y", "v": 7, "reason": "before the watermark 5"}
    assert rows == [{"a": 1, "b": 2, "late": None}, {"a": None, "b": None, "late": late}]
    with pytest.raises(SchemaError, match="returns a column `late`"):
        with_late_rows(pa.schema([("Late", pa.int32())]), reads)


@pytest.mark.spark
def test_late_rows_are_rows_of_the_result(spark, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()

    def run(frame) -> list[dict]:
        writer = frame.writeStream.format("parquet").option("path", str(tmp_path / "out"))
        writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start().awaitTermination()
        return [row.asDict(recursive=True) for row in spark.read.parquet(str(tmp_path / "out")).collect()]

    engine = on(spark)
    pq.write_table(ticks((1, "x", 1), (3, "x", 2), (20, "y", 3)), tmp_path / "in" / "0.parquet")
    stream = engine.read_stream(str(tmp_path / "in"))
    kept = engine.match(TEXT, ticks=stream, lateness=2, late="keep", buckets=1)
    assert run(kept) == [{"a": 1, "b": 2, "late": None}]
    pq.write_table(ticks((4, "x", 4), (21, "y", 5), (40, "y", 6)), tmp_path / "in" / "1.parquet")
    late = [row["late"] for row in run(kept) if row["late"] is not None]
    assert late == [{"ts": 4, "k": "x", "v": 4, "reason": "before the watermark 18"}]
    pq.write_table(ticks((50, "y", 7)), tmp_path / "in" / "2.parquet")
    with pytest.raises(StreamingQueryException, match="made with lateness=2, and the session is to go on with lateness=3"):
        run(engine.match(TEXT, ticks=stream, lateness=3, late="keep", buckets=1))
    batch = spark.read.parquet(str(tmp_path / "in"))
    with pytest.raises(UnsupportedError, match="not kept by a batch"):
        engine.match(TEXT, ticks=batch, late="keep")
    clause = "SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts MEASURES A.v AS v PATTERN (A) DEFINE A AS true)"
    for run, asked in ((engine.match, TEXT), (engine.sql, clause)):
        with pytest.raises(UnsupportedError, match="lateness= is for streams, and this is a batch"):
            run(asked, ticks=batch, lateness=2)
        with pytest.raises(DataError, match="does not fit the time column `ts`, which is a number"):
            run(asked, ticks=stream, lateness="2 seconds")
    with pytest.raises(UnsupportedError, match="not kept by SQL around a pattern"):
        text = "SELECT v FROM ticks MATCH_RECOGNIZE (ORDER BY ts MEASURES A.v AS v PATTERN (A) DEFINE A AS true)"
        engine.sql(text, ticks=stream, lateness=2, late="keep")
