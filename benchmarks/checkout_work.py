"""The work that `two_checkouts` gives to both of them, through the public names alone: what both sides understand.

Reads names of cases from standard input, one a line, and answers each with the seconds that it took."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks import compact_windows, sase_workload, v_shape
from benchmarks.one_thread import use_one_thread
from benchmarks.ticks import random_walk, with_text_keys

Seconds = Callable[[], float]


def cpu_seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def wall_seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def single_pushes(count: int) -> None:
    """Rows that come one by one."""
    query = sase_workload.compiled("s2", "p2")
    session = query.open()
    for batch in sase_workload.stock_events(count).to_batches(max_chunksize=1):
        session.push(batch)


def opened_sessions(count: int) -> None:
    query = sase_workload.compiled("s2", "p2")
    for _ in range(count):
        query.open()


def in_process(part: int) -> dict[str, Seconds]:
    """`part`: by how much the inputs are smaller than they could be."""
    cases: dict[str, Callable[[], object]] = {}
    for keys in (2, 10_000, 100_000, 1_000_000):
        table = random_walk(5_000_000 // part, keys)
        cases[f"V shape, {keys:,} keys"] = partial(v_shape.engine, table)
    cases["V shape, 10,000 text keys"] = partial(v_shape.engine, with_text_keys(random_walk(5_000_000 // part, 10_000)))
    for strategy, iterator, run in sase_workload.workload(2_000_000 // part):
        cases[f"SASE+ workload {strategy} {iterator}"] = run
    for length, window, output, completes in ((6, 100, "all", False), (6, 100, "count", True), (3, 20, "all", True)):
        batches = compact_windows.events(1_000_000 // part, length, completes).to_batches(max_chunksize=compact_windows.BATCH)
        label = "counted" if output == "count" else ("listed" if completes else "never complete")
        cases[f"compact, {length} steps, {label}"] = partial(compact_windows.drive, compact_windows.query(length, window, output), batches)
    cases["1,000 pushes of one row"] = partial(single_pushes, 1_000)
    cases["100 sessions opened"] = partial(opened_sessions, 100)
    return {name: partial(cpu_seconds, run) for name, run in cases.items()}


def on_spark(part: int, stack: ExitStack) -> dict[str, Seconds]:
    from benchmarks import spark_queries
    from benchmarks.spark_session import consume, spark_and_folder
    from ostinato.hosts.spark import on

    spark, folder = stack.enter_context(spark_and_folder())
    cases: dict[str, Seconds] = {}
    for keys in (100, 10_000):
        ticks = spark.read.parquet(*spark_queries.write_ticks(folder / f"batch{keys}", 10_000_000 // part, keys))
        queries = {
            "V shape": spark_queries.v_shape(spark_queries.SHALLOW, 10),
            "SASE+ sequence": spark_queries.SEQUENCE.format(milliseconds=10),
        }
        for name, query in queries.items():
            matched = partial(lambda query, ticks: consume(on(spark).match(query, ticks=ticks)), query, ticks)
            cases[f"Spark batch, {name}, {keys:,} keys"] = partial(wall_seconds, matched)
    other = spark.read.parquet(*spark_queries.write_ticks(folder / "other", 4_000_000 // part, 100)).where("volume > 0")
    by_key = lambda: consume(on(spark).sql(spark_queries.v_shape(spark_queries.SHALLOW), ticks=other))  # noqa: E731
    cases["Spark batch, another DataFrame"] = partial(wall_seconds, by_key)
    rows = 500_000 // part
    source = spark_queries.write_batches(folder / "stream", 8, rows, 100)
    checkpoints = (folder / f"checkpoint{number}" for number in range(1_000))
    for name, job in spark_queries.our_streams(spark, source, rows).items():
        cases[f"Spark stream, {name}"] = partial(_best_batch, job, checkpoints)
    return cases


def _best_batch(job: Callable, checkpoints: Iterator[Path]) -> float:
    from benchmarks.spark_queries import batch_seconds

    return min(batch_seconds(job(), next(checkpoints)))


def main() -> None:
    part, spark = int(sys.argv[1]), sys.argv[2] == "spark"
    with ExitStack() as stack:
        if spark:
            cases = on_spark(part, stack)
        else:
            use_one_thread()
            cases = in_process(part)
        print("cases", *cases, sep="\t", flush=True)
        for line in sys.stdin:
            print(f"seconds\t{cases[line.strip()]()}", flush=True)


if __name__ == "__main__":
    main()
