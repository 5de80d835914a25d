"""Texts with a collation are not compared by bytes unseen."""

from __future__ import annotations

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from pyspark.sql.types import LongType, StringType, StructField, StructType

from ostinato.base.errors import UnsupportedError
from ostinato.compiler import compile
from ostinato.hosts.spark import on
from ostinato.hosts.spark.collations import check_collations

LCASE = StringType("UTF8_LCASE")
DEV = StructType([StructField("id", LCASE)])
SCHEMA = StructType([StructField("ts", LongType()), StructField("k", LCASE), StructField("p", StringType()), StructField("dev", DEV)])
ARROW = pa.schema([("ts", pa.int64()), ("k", pa.string()), ("p", pa.string()), ("dev", pa.struct([("id", pa.string())]))])
ROW = "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY p ORDER BY ts MEASURES {measure} AS m PATTERN (A B) DEFINE B AS {condition})"


@pytest.mark.parametrize(
    "text",
    [
        "PATTERN SEQ(T a, T b) WHERE [k]",
        "PATTERN SEQ(T a, T b) WHERE [dev.id]",
        "PATTERN SEQ(T a, T b) WHERE a.k = b.k",
        "PATTERN SEQ(T a, ~(T n), T b) WHERE n.k = 'x'",
        "PATTERN SEQ(T a, T b) RETURN upper(a.k) AS k",
        ROW.format(measure="A.p", condition="k < PREV(k)"),
        ROW.format(measure="MAX(k)", condition="true"),
        ROW.format(measure="A.p", condition="true").replace("ORDER BY ts", "ORDER BY ts, K"),
        ROW.format(measure="A.p", condition="true").replace("BY p", "BY dev.id"),
    ],
)
def test_compared_values_are_refused(text: str) -> None:
    with pytest.raises(UnsupportedError, match=r"the column '(k|dev.id)' has the type string collate UTF8_LCASE") as caught:
        check_collations(SCHEMA, compile(text, {"t": ARROW}).pattern)
    assert "UTF8_BINARY" in str(caught.value.hint)


@pytest.mark.parametrize(
    "text", ["PATTERN SEQ(T a, T b) WHERE [p] RETURN a.k, b.dev", "PATTERN SEQ(T a)", ROW.format(measure="LAST(k)", condition="p > 'x'")]
)
def test_shown_values_are_not(text: str) -> None:
    check_collations(SCHEMA, compile(text, {"t": ARROW}).pattern)


@pytest.mark.spark
def test_on_batches_and_streams(spark, tmp_path) -> None:
    engine = on(spark)
    frame = spark.sql("SELECT 1L AS ts, 'a' COLLATE UTF8_LCASE AS k")
    frame.write.parquet(str(tmp_path / "in"))
    live = spark.readStream.schema("ts bigint, k string").parquet(str(tmp_path / "in")).selectExpr("ts", "k COLLATE UTF8_LCASE AS k")
    both = "PATTERN SEQ(T a, U b) WHERE [k]"
    for call in (
        lambda: engine.match("PATTERN SEQ(T a, T b) WHERE [k]", t=frame),
        lambda: engine.match("PATTERN SEQ(T a, T b) WHERE [k]", t=live, lateness=0),
        lambda: engine.match(both, t=frame, u=frame),
        lambda: engine.match(both, t=live, u=live, lateness=0),
        lambda: engine.match("PATTERN SEQ(T a, T b) WHERE [k]", t=engine.read_stream(str(tmp_path / "in")), lateness=0),
    ):
        with pytest.raises(UnsupportedError, match="string collate UTF8_LCASE"):
            call()
