"""A streaming job in a process of its own, so that it can be killed. Arguments: the folder with its input, output and checkpoint."""

from __future__ import annotations

import sys

from ostinato.hosts.spark import local, on

TEXT = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
  MEASURES FIRST(ts) AS first_ts, COUNT(*) AS n PATTERN (A B+ C) WITHIN INTERVAL '20' SECOND DEFINE B AS v < PREV(v), C AS v > PREV(v))"""
LATENESS_SECONDS = 20


def main(folder: str) -> None:
    spark = local(cores=2, **{"spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false"})
    ticks = on(spark).read_stream(folder + "/in", rows_per_batch=1, ends=True)
    matches = on(spark).sql(TEXT, ticks=ticks, lateness=f"{LATENESS_SECONDS} seconds", buckets=3)
    writer = matches.writeStream.format("parquet").option("checkpointLocation", folder + "/checkpoint").option("path", folder + "/out")
    writer.trigger(availableNow=True).start().awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
