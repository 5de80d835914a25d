"""A hundred thousand standing queries over a stream of Spark, beside the same set embedded."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Experiment, announce
from benchmarks.many_queries import Rules, cpu, made, ticks
from benchmarks.one_thread import use_one_thread
from benchmarks.spark_session import spark_and_folder
from ostinato.hosts.spark import on

ROWS = 2_000_000  # of a micro-batch: what Spark does for each, whatever is in it, takes half a second
WARM_UP = 3  # micro-batches in which workers start, the set is opened, and the JVM compiles itself
LOOK = 0.2  # seconds; each look is work for Spark, too


def write(folder: Path, batches: int, rows: int) -> list[pa.Table]:
    folder.mkdir(parents=True)
    tables = [ticks(rows, 7 + number, number * rows) for number in range(batches)]
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"{number:03d}.parquet", row_group_size=1 << 18)
    return tables


def embedded(queries: ost.QuerySet, tables: list[pa.Table]) -> float:
    """Seconds of CPU time that the rows of a micro-batch take, one thread."""
    session = queries.open()
    spent = [cpu(lambda table=table: session.push("ticks", table)) for table in tables]
    return sum(spent[WARM_UP:]) / len(spent[WARM_UP:])


def spark_seconds(
    spark: SparkSession, queries: ost.QuerySet, source: Path, folder: Path, **told: Any
) -> tuple[list[float], dict[str, float]]:
    """Of each micro-batch behind the first ones: the seconds that Spark reports; and what one of them takes of CPU time, of the JVM and of
    Python workers."""
    stream = on(spark).read_stream(str(source), rows_per_batch=1)
    frame = on(spark).match_all(queries, ticks=stream, lateness=0, **told)
    count = len(list(source.iterdir()))
    running = frame.writeStream.format("noop").option("checkpointLocation", str(folder)).trigger(availableNow=True).start()
    spent = CpuOfChildren()
    before: dict[str, float] = {}
    done = 0
    while running.isActive:
        spent.look()
        if done < WARM_UP:
            before, done = spent.total(), len(running.recentProgress)
        time.sleep(LOOK)
    running.awaitTermination()
    spent.look()
    after = spent.total()
    progress = [one for one in running.recentProgress if one.numInputRows]
    measured = count - max(done, WARM_UP)
    seconds = [one.durationMs["triggerExecution"] / 1000 for one in progress[-measured:]]
    return seconds, {name: (after[name] - before[name]) / measured for name in after}


class CpuOfChildren:
    """CPU time of the JVM and of Python workers, also of those that have ended since they were last looked at."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, float], tuple[str, float]] = {}

    def look(self) -> None:
        for process in psutil.Process().children(recursive=True):
            try:
                times, name = process.cpu_times(), process.name()
            except psutil.NoSuchProcess:
                continue
            self._seen[process.pid, process.create_time()] = ("jvm" if name == "java" else "python", times.user + times.system)

    def total(self) -> dict[str, float]:
        return {kind: sum(spent for of, spent in self._seen.values() if of == kind) for kind in ("jvm", "python")}


def main() -> None:
    options = harness.options("Many standing queries over a stream of Spark")
    use_one_thread()
    warnings.simplefilter("ignore")
    experiment = Experiment(
        "many_queries_spark",
        "A hundred thousand queries over a stream of Spark",
        f"The rules and trades of the benchmark above, as a stream of Parquet files of {ROWS:,} trades, one per micro-batch, on local "
        "Spark with one core and one bucket; CPU seconds per micro-batch, of the JVM and the Python workers together, and the seconds "
        "that Spark reports, the best of several. `rules may change`: the set is followed while the stream runs.",
        show=("queries", "spark_jvm", "spark_python", "spark_seconds", "live_jvm", "live_python", "live_seconds"),
    )
    rows, batches = (20_000, 1) if options.quick else (ROWS, 3)
    with spark_and_folder(cores=1) as (spark, folder):
        for count in (100,) if options.quick else (1_000, 100_000):
            tables = write(folder / f"in{count}", WARM_UP + batches, rows)
            queries = made(Rules().texts(count))
            case = experiment.case(f"{count:,} queries", rows, queries=count)
            case.record("embedded", [embedded(queries, tables)])
            kinds = (("Spark", "spark", {}), ("Spark, rules may change", "live", {"rule_log": folder / f"log{count}"}))
            for name, fact, told in kinds:
                seconds, spent = spark_seconds(spark, queries, folder / f"in{count}", folder / f"{fact}{count}", buckets=1, **told)
                case.record(name, [sum(spent.values())])
                case.facts |= {f"{fact}_{side}": round(used, 3) for side, used in spent.items()}
                case.facts[f"{fact}_seconds"] = round(min(seconds), 3)
                if count >= 100_000:  # of few queries an event costs less than to bring it here
                    case.target(name, "embedded", at_least=0.6)
            announce(f"  {case.facts}")
    experiment.save(options)


if __name__ == "__main__":
    main()
