"""Spark Structured Streaming: the V shape over micro-batches, against a packed job of the same shape that does nothing.

Seconds are those that Spark reports for a micro-batch; the first ones, in which workers start, are left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

import benchmarks.do_nothing_stream as nothing
from benchmarks import harness
from benchmarks.harness import Experiment, Options
from benchmarks.spark_batch import SHALLOW, v_shape
from benchmarks.spark_session import spark_and_folder
from benchmarks.ticks import random_walk
from ostinato.compiler import compile
from ostinato.hosts.spark import on
from ostinato.hosts.spark.streaming.match_stream import pack_rows, packer_of, with_lateness

QUERY = v_shape(SHALLOW, 10)
LATENESS = "0 seconds"
WARM_UP_BATCHES = 3


def write_batches(folder: Path, batches: int, rows: int, keys: int) -> Path:
    """One file per micro-batch."""
    folder.mkdir(parents=True)
    ticks = random_walk(batches * rows, keys).select(["key", "ts", "price"])
    for number in range(batches):
        pq.write_table(ticks.slice(number * rows, rows), folder / f"{number:05d}.parquet")
    return folder


def batch_seconds(frame: DataFrame, checkpoint: Path) -> list[float]:
    writer = frame.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    with_rows = [progress for progress in query.recentProgress if progress.numInputRows]
    return [progress.batchDuration / 1000 for progress in with_rows[WARM_UP_BATCHES:]]


def jobs(spark: SparkSession, source: Path, rows: int) -> dict[str, Callable[[], DataFrame]]:
    schema = spark.read.parquet(str(source)).schema
    ours = on(spark)
    directory = ours.read_stream(str(source), rows_per_batch=rows)
    packer = packer_of(compile(QUERY, {"ticks": directory.schema}).pattern, None)

    def rows_of() -> DataFrame:
        return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(source))

    def packed_rows() -> DataFrame:
        return with_lateness(pack_rows(rows_of(), packer), packer.clock, LATENESS)

    def packed_files() -> DataFrame:
        return with_lateness(directory.packed(spark, directory.schema, packer), packer.clock, LATENESS)

    return {
        "do nothing, packed rows": lambda: nothing.do_nothing_with_state(packed_rows()),
        "ostinato, packed rows": lambda: ours.sql(QUERY, ticks=rows_of(), lateness=LATENESS),
        "do nothing, own source": lambda: nothing.do_nothing_with_state(packed_files()),
        "ostinato, own source": lambda: ours.sql(QUERY, ticks=directory, lateness=LATENESS),
    }


def measure(experiment: Experiment, spark: SparkSession, folder: Path, keys: int, rows: int, batches: int) -> None:
    source = write_batches(folder / f"in{keys}x{rows}", batches + WARM_UP_BATCHES, rows, keys)
    case = experiment.case(f"{keys:,} keys, {rows:,} rows per micro-batch", rows, clock="wall", keys=keys, batch=rows)
    for number, (name, job) in enumerate(jobs(spark, source, rows).items()):
        case.record(name, batch_seconds(job(), folder / f"checkpoint{keys}x{rows}x{number}"))
    case.target("ostinato, packed rows", "do nothing, packed rows", at_least=0.6)
    case.target("ostinato, own source", "do nothing, own source", at_least=0.6)


def sizes(options: Options) -> list[tuple[int, int]]:
    """(rows per micro-batch, how many are measured)."""
    return [(2_000, 2)] if options.quick else [(20_000, 8), (1_000_000, 4)]


def main() -> None:
    options = harness.options("Spark Structured Streaming")
    cloudpickle.register_pickle_by_value(nothing)  # Spark's workers do not see the benchmarks
    experiment = Experiment(
        "spark_streaming",
        "Spark Structured Streaming",
        "Local Spark with 2 cores; seconds per micro-batch as Spark reports them, the best of several. The do-nothing jobs pack, shuffle "
        "and keep state as ours do. `packed rows` reads through Spark, `own source` lets the tasks read the files.",
        show=("keys", "batch"),
    )
    with spark_and_folder() as (spark, folder):
        for keys in (100,) if options.quick else (1, 100, 10_000):
            for rows, batches in sizes(options):
                measure(experiment, spark, folder, keys, rows, batches)
    experiment.save(options)


if __name__ == "__main__":
    main()
