"""Spark Structured Streaming: the V shape over micro-batches, against a packed job of the same shape that does nothing.

Seconds are those that Spark reports for a micro-batch; the first ones, in which workers start, are left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

import benchmarks.do_nothing_stream as nothing
from benchmarks import harness
from benchmarks.harness import Experiment, Options
from benchmarks.spark_queries import LATENESS, STREAMED, WARM_UP_BATCHES, batch_seconds, our_streams, rows_of, write_batches
from benchmarks.spark_session import spark_and_folder
from ostinato.compiler import compile
from ostinato.hosts.spark import on
from ostinato.hosts.spark.streaming.match_stream import buckets_for, clock_of, pack_rows, with_lateness
from ostinato.hosts.spark.streaming.packing import Packer
from ostinato.hosts.spark.work import Work


def jobs(spark: SparkSession, source: Path, rows: int) -> dict[str, Callable[[], DataFrame]]:
    directory = on(spark).read_stream(str(source), rows_per_batch=rows)
    work = Work.of(compile(STREAMED, {"ticks": directory.schema}))
    packer = Packer.of(work.streams[0], work.keys_of(0), buckets_for(work, None), clock_of(work), 0, 1)

    def packed_rows() -> DataFrame:
        return with_lateness(pack_rows(rows_of(spark, source), packer), packer.clock, LATENESS)

    def packed_files() -> DataFrame:
        return with_lateness(directory.packed(spark, directory.schema, packer), packer.clock, LATENESS)

    ours = our_streams(spark, source, rows)
    return {
        "do nothing, packed rows": lambda: nothing.do_nothing_with_state(packed_rows()),
        "ostinato, packed rows": ours["packed rows"],
        "do nothing, own source": lambda: nothing.do_nothing_with_state(packed_files()),
        "ostinato, own source": ours["own source"],
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
