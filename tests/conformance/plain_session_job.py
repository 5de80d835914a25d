"""Queries on a session that nobody set up, in a process of its own: `SparkSession.builder.getOrCreate()` and nothing else. Prints what
was found as JSON. Arguments: a folder of ticks; "few" or "all" golden cases, or "connect" for a client of Spark Connect instead,
"connect, all" for that with a stream of our own source, too."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]  # as if the script lay there: workers see nothing of it

from pyspark.sql import DataFrame, SparkSession  # noqa: E402
from tests.conformance.one_operator_engine import OneOperatorEngine  # noqa: E402
from tests.conformance.selection import for_streams  # noqa: E402
from tests.conformance.spark_engines import SparkBatchEngine  # noqa: E402
from tests.conformance.test_cases_on_spark import streamable, wrong  # noqa: E402
from tests.golden.case_file import golden_cases  # noqa: E402

import ostinato as ost  # noqa: E402

TEXT = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
  MEASURES FIRST(id) AS a, LAST(id) AS b PATTERN (A B+ C) WITHIN INTERVAL '20' SECOND DEFINE B AS v < PREV(v), C AS v > PREV(v))"""
SETTINGS = {
    "provider": "spark.sql.streaming.stateStore.providerClass",
    "partitions": "spark.sql.shuffle.partitions",
    "partitions of batches": "spark.sql.adaptive.coalescePartitions.initialPartitionNum",
}


def main(folder: str, kind: str) -> None:
    remote = kind.startswith("connect")
    builder = SparkSession.builder.remote("local[2]") if remote else SparkSession.builder
    spark = builder.getOrCreate()
    found: dict[str, Any] = {"session": type(spark).__module__, "frame": rows(ost.on(spark).sql(TEXT, ticks=spark.read.parquet(folder)))}
    found["path"] = rows(ost.on(spark).sql(TEXT, ticks=folder))
    found["stream"] = streamed(
        spark, spark.readStream.schema(spark.read.parquet(folder).schema).parquet(folder), str(Path(folder).parent / "a")
    )
    if kind != "connect":
        found["own stream"] = streamed(spark, ost.on(spark).read_stream(folder), str(Path(folder).parent / "b"))
    found |= {name: spark.conf.get(setting, None) for name, setting in SETTINGS.items()}
    found["batch plan"] = spark.sql("EXPLAIN SELECT id % 3, count(*) FROM range(0, 9, 1, 4) GROUP BY id % 3").collect()[0][0]
    if not remote:
        found["wrong"] = disagreements(kind)
    print("FOUND", json.dumps(found))
    spark.stop()


def rows(frame: DataFrame) -> list[list[Any]]:
    return sorted([row.k, row.a, row.b] for row in frame.collect())


def streamed(spark: SparkSession, stream: Any, folder: str) -> list[list[Any]]:
    matches = ost.on(spark).sql(TEXT, ticks=stream, lateness=0)
    writer = matches.writeStream.format("parquet").option("checkpointLocation", folder + "/checkpoint").option("path", folder + "/out")
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    progress = query.lastProgress
    assert progress is not None and progress["stateOperators"][0]["numShufflePartitions"] <= 8
    return rows(spark.read.parquet(folder + "/out"))


def disagreements(extent: str) -> list[str]:
    cases = golden_cases() if extent == "all" else for_streams(golden_cases())[::6]
    batch = wrong(cases, SparkBatchEngine("spark", None).run(cases))
    return batch + wrong(*streamable(cases, OneOperatorEngine().run(cases)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
