"""Spark batch: patterns over Parquet and over other DataFrames, against jobs of the same shape that do nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

import benchmarks.do_nothing_spark as nothing
from benchmarks import harness
from benchmarks.harness import Case, Experiment, Options
from benchmarks.spark_queries import COLUMNS, DEEP, SEQUENCE, SHALLOW, WINDOWS, v_shape, write_ticks
from benchmarks.spark_session import consume, spark_and_folder
from ostinato.compiler import compile
from ostinato.hosts.spark import on
from ostinato.hosts.spark.batch.match_batch import decide_batch
from ostinato.hosts.spark.types import to_arrow_schema
from ostinato.hosts.spark.work import Work


def over_parquet(experiment: Experiment, spark: SparkSession, folder: Path, rows: int, keys: int, options: Options) -> None:
    files = write_ticks(folder / f"parquet{keys}", rows, keys)
    ticks = spark.read.parquet(*files)
    for window in WINDOWS:
        # the forced way does the same work whatever the window, and takes long for the V shapes: once is enough there
        queries = (
            ("V shape", v_shape(SHALLOW, window), COLUMNS, window == WINDOWS[0]),
            ("deep V shape", v_shape(DEEP, window), COLUMNS, window == WINDOWS[0]),
            # here Spark's own filter, which the forced way gets too, leaves two rows in a hundred
            ("SASE+ sequence", SEQUENCE.format(milliseconds=window), ("key", "ts", "volume"), True),
        )
        for name, query, columns, forced in queries:
            case = experiment.case(f"{name} over Parquet, {keys:,} keys, {window} ms", rows, clock="wall", keys=keys, window=f"{window} ms")
            _compare(case, ticks, query, files, columns, options, forced)


def over_more_rows(experiment: Experiment, spark: SparkSession, folder: Path, rows: int, keys: int, options: Options) -> None:
    """Without bars: what is left of the ratios when what Spark takes for any query counts for little."""
    files = write_ticks(folder / f"more{keys}", rows, keys)
    ticks = spark.read.parquet(*files)
    for name, query, columns, forced in (
        ("V shape", v_shape(SHALLOW, WINDOWS[0]), COLUMNS, False),
        ("SASE+ sequence", SEQUENCE.format(milliseconds=WINDOWS[0]), ("key", "ts", "volume"), True),
    ):
        title = f"{name} over Parquet, {rows // 1_000_000} M rows, {keys:,} keys, {WINDOWS[0]} ms"
        case = experiment.case(title, rows, clock="wall", keys=keys, window=f"{WINDOWS[0]} ms")
        case.compare(_contenders(ticks, query, files, columns, forced), options)


def _compare(
    case: Case, ticks: DataFrame, query: str, files: Sequence[str], columns: Sequence[str], options: Options, forced: bool
) -> None:
    case.compare(_contenders(ticks, query, files, columns, forced), options)
    case.target("ostinato", "do-nothing source", at_least=0.6)
    case.target("ostinato", "do-nothing source, rows handed on", at_least=0.6)
    if forced:
        case.target("ostinato", "ostinato, mapInArrow forced", at_least=3.0)


def _contenders(ticks: DataFrame, query: str, files: Sequence[str], columns: Sequence[str], forced: bool) -> dict[str, Callable[[], None]]:
    spark = ticks.sparkSession
    tasks = _tasks(ticks, query)
    schema = ", ".join(f"`{name}` {ticks.schema[name].dataType.simpleString()}" for name in columns)
    contenders = {
        "do-nothing source": lambda: consume(nothing.read_and_do_nothing(spark, files, columns, tasks)),
        "do-nothing source, rows handed on": lambda: consume(nothing.read_and_do_nothing(spark, files, columns, tasks, schema)),
        "ostinato": lambda: consume(on(spark).match(query, ticks=ticks)),
    }
    if forced:
        contenders["ostinato, mapInArrow forced"] = lambda: consume(on(spark).match(query, path="by key", ticks=ticks))
    return contenders


def _tasks(ticks: DataFrame, query: str) -> int:
    """As many as ours has, so that both sides divide the work alike."""
    compiled = compile(query, {"ticks": to_arrow_schema(ticks.schema)}, dialect="spark")
    job = decide_batch([ticks], Work.of(compiled)).job
    assert job is not None
    return len(job.ranges)


def over_other_frames(experiment: Experiment, spark: SparkSession, folder: Path, rows: int, keys: int, options: Options) -> None:
    """A DataFrame that is not a plain scan. The do-nothing job shuffles and sorts as ours has to."""
    files = write_ticks(folder / f"frame{keys}", rows, keys)
    ticks = spark.read.parquet(*files).where("volume > 0")
    case = experiment.case(f"V shape without WITHIN over another DataFrame, {keys:,} keys", rows, clock="wall", keys=keys, window="")
    contenders = {
        "do-nothing mapInArrow, sorted by key": lambda: consume(nothing.map_and_do_nothing(_sorted(ticks))),
        "ostinato": lambda: consume(on(spark).sql(v_shape(SHALLOW), ticks=ticks)),
    }
    case.compare(contenders, options)
    case.target("ostinato", "do-nothing mapInArrow, sorted by key", at_least=0.6)


def _sorted(ticks: DataFrame) -> DataFrame:
    cores = ticks.sparkSession.sparkContext.defaultParallelism
    return ticks.select(*COLUMNS).repartition(cores, "key").sortWithinPartitions("key", "ts")


def main() -> None:
    options = harness.options("Spark batch")
    cloudpickle.register_pickle_by_value(nothing)  # Spark's workers do not see the benchmarks
    experiment = Experiment(
        "spark_batch",
        "Spark batch",
        "Local Spark with 2 cores, wall time. The do-nothing jobs move or read the same columns and match nothing: they are what Spark "
        "itself costs. A source of Spark hands its rows on; the one that only counts them is what reading costs. Over Parquet tasks "
        "read the row groups themselves, in time ranges; other DataFrames are shuffled by key.",
        show=("keys", "window"),
    )
    with spark_and_folder() as (spark, folder):
        rows = options.rows(10_000_000, 400_000)
        for keys in (100, 10_000):
            over_parquet(experiment, spark, folder, rows, keys, options)
        over_more_rows(experiment, spark, folder, options.rows(40_000_000, 1_000_000), 100, options)
        over_other_frames(experiment, spark, folder, options.rows(4_000_000, 100_000), 100, options)
    experiment.save(options)


if __name__ == "__main__":
    main()
