"""A streaming job whose rules change while it runs, in a process of its own, so that it can be killed. Arguments: the folder with its
input, output and checkpoint, and how often the job was started before."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pyarrow as pa

import ostinato as ost
from ostinato.hosts.spark import local, on

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.string()), ("p", pa.float64())])
PAIR = "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) {{ [k] and a.p > {0} and b.p > {1} }} WITHIN 60 RETURN a.ts AS a, b.ts AS b"
CHANGES = (9, 9, 0)  # of each start


def rules(start: int, change: int) -> list[dict]:
    """Some stay for ever, some come and go."""
    named = {"always": (7, 3)} | {f"long-{start}-{n}": (n, 8 - n) for n in range(5)} | {f"short-{start}-{change}": (change, 4)}
    return [{"id": name, "text": PAIR.format(*limits)} for name, limits in named.items()]


def main(folder: str, start: int) -> None:
    spark = local(cores=2, **{"spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false"})
    queries = ost.QuerySet({"t": SCHEMA})
    queries.sync(rules(start, 0))
    ticks = on(spark).read_stream(folder + "/in", rows_per_batch=1)
    matches = on(spark).match_all(queries, t=ticks, lateness=0, buckets=3, rule_log=folder + "/rules")
    writer = matches.writeStream.format("parquet").option("checkpointLocation", folder + "/checkpoint").option("path", folder + "/out")
    running = writer.start()
    commits = Path(folder) / "checkpoint" / "commits"
    for change in range(1, 1 + CHANGES[start]):
        seen = len(list(commits.glob("*"))) if commits.exists() else 0
        while running.isActive and len(list(commits.glob("*"))) < seen + 4:  # each has a file beside it, with its checksum
            time.sleep(0.05)
        queries.sync(rules(start, change))
    running.awaitTermination()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
