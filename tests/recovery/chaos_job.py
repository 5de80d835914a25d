"""One of three streaming jobs, in a process of its own, so that it can be killed. Arguments: the folder with its input, output and
checkpoint; the query; the kind of source; the cores; settings of Spark as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from ostinato.hosts.spark import local, on

LATENESS_SECONDS = 5
V_SHAPE = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a, LAST(id) AS b, COUNT(*) AS n
    PATTERN (A B+ C) WITHIN INTERVAL '60' SECOND DEFINE B AS v < PREV(v), C AS v > PREV(v))"""
NOT_BETWEEN = """PATTERN SEQ(Low a, ~(Top x), High b) WHERE skip_till_next_match(a, x, b) { [k] and b.v > a.v }
    WITHIN 40 seconds RETURN a.id AS a, b.id AS b"""
COMPOSED = """PATTERN SEQ(Ticks x, Ticks y) WHERE [k] and y.v > x.v WITHIN 8 seconds RETURN Rise(x.k, x.id AS low, y.id AS high, y.v AS v);
    PATTERN SEQ(Rise p, Orders o) WHERE [k] and o.v > p.v WITHIN 20 seconds RETURN p.low, p.high, o.id AS o"""
QUERIES = {  # text, options, streams
    "V shape": (V_SHAPE, {}, ("ticks",)),
    "negation": (NOT_BETWEEN, {"type_by": "kind"}, ("ticks",)),
    "composed": (COMPOSED, {}, ("ticks", "orders")),
}
SCHEMA = "ts timestamp, k string, kind string, v int, id long"


def main(folder: str, query: str, source: str, cores: str, settings: str) -> None:
    quiet = {"spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false"}
    spark = local(int(cores), **quiet, **json.loads(settings))
    text, options, names = QUERIES[query]
    streams = {name: _stream(spark, f"{folder}/{name}", source) for name in names}
    matches = on(spark).match(text, lateness=f"{LATENESS_SECONDS} seconds", **options, **streams)
    writer = matches.writeStream.format("parquet").option("checkpointLocation", folder + "/checkpoint").option("path", folder + "/out")
    running = writer.trigger(availableNow=True).start()
    Path(folder, "started").touch()
    running.awaitTermination()
    spark.stop()


def _stream(spark: SparkSession, folder: str, source: str) -> Any:
    if source == "own source":
        return on(spark).read_stream(folder, rows_per_batch=1)
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
