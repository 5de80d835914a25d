"""Threads beside one another: Fig. 5.15 (by partition), 5.16 (without partitions) and 5.17 (where the time goes) of Körber's thesis.

The thesis has eight cores. What more than two threads would give is projected (Amdahl), from what a second one saves."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import ostinato as ost
from benchmarks import harness, tpstream_plots
from benchmarks.fixed_batches import batches_of
from benchmarks.harness import Case, Experiment, Options
from benchmarks.linear_road import AGGRESSIVE_DRIVERS, Traffic
from benchmarks.one_thread import use_one_thread
from benchmarks.random_situations import Kind, defined, events
from benchmarks.sase_plots import IMAGES
from benchmarks.tpstream_rate import skewed

SIZES = (128, 1_024, 8_192)  # rows of a batch
THREADS = (1, 2)
PROJECTED = (4, 8)
WINDOWS = (500, 5_000, 20_000, 100_000)
PATTERN = "A starts B AND B before C AND C overlaps D"
SHOWN = ("matches", "speed-up with 2", *(f"projected with {threads}" for threads in PROJECTED))


def matched(text: str, streams: Mapping[str, pa.Table | str], size: int | None, threads: int) -> int:
    """`size` None: as it is tuned."""
    with warnings.catch_warnings(action="ignore"):
        if size is None:
            return len(ost.match(text, language="tpstream", latency="final", streams=streams, threads=threads).to_arrow())
        with batches_of(size):
            return len(ost.match(text, language="tpstream", latency="final", streams=streams, threads=threads).to_arrow())


def threads_named(count: int) -> str:
    return f"{count} thread{'s' * (count > 1)}"


def compare(case: Case, text: str, streams: Mapping[str, pa.Table | str], size: int | None, options: Options) -> None:
    named: dict[str, Callable[[], int]] = {threads_named(count): partial(matched, text, streams, size, count) for count in THREADS}
    found = case.compare(named, options, same=int)
    case.facts["matches"] = found[threads_named(1)].result
    gained = case.ratio(threads_named(2), threads_named(1))
    case.facts[SHOWN[1]] = round(gained, 2)
    beside = min(max(2 * (1 - 1 / gained), 0.0), 1.0)  # the part of the work that a second thread takes half of
    for threads, name in zip(PROJECTED, SHOWN[2:], strict=True):
        case.facts[name] = round(1 / (1 - beside + beside / threads), 2)


def sizes(options: Options) -> tuple[int | None, ...]:
    return (1_024, None) if options.quick else (*SIZES, None)


def size_named(size: int | None) -> str:
    return "tuned" if size is None else f"batches of {size:,}"


def by_partition(options: Options) -> None:
    experiment = Experiment(
        "tpstream_partitions", "Threads with partitions",
        "Fig. 5.15: the query for aggressive drivers over reports of 200 cars, by the threads and the rows of a batch. *file*: read from "
        "Parquet in the same run; *preloaded*: from memory; *skewed*: nine of ten reports are of one car. Wall clock on two cores; "
        "with more threads *projected* by Amdahl's law from what the second one saves.",
        show=("source", "batches", *SHOWN),
    )  # fmt: skip
    table = Traffic().reports(options.rows(2_000_000, 40_000))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "cars.parquet")
        pq.write_table(table, path)
        for source, streams in {"file": path, "preloaded": table, "skewed": skewed(table)}.items():
            for size in sizes(options):
                case = experiment.case(
                    f"{source}, {size_named(size)}", rows=table.num_rows, clock="wall", source=source, batches=size_named(size)
                )
                compare(case, AGGRESSIVE_DRIVERS, {"cars": streams}, size, options)
    experiment.save(options)


def by_batch(options: Options) -> None:
    experiment = Experiment(
        "tpstream_unpartitioned", "Threads without partitions",
        "Fig. 5.16: the disconnected pattern over the thesis' random situations, which nothing divides, by the window, the threads and the "
        "rows of a batch. Wall clock on two cores; with more threads *projected* by "
        "Amdahl's law from what the second one saves.",
        show=("window", "batches", *SHOWN),
    )  # fmt: skip
    table, _ = events(options.rows(2_000_000, 40_000), dict.fromkeys("ABCD", Kind()))
    for window in WINDOWS[:1] if options.quick else WINDOWS:
        for size in sizes(options):
            case = experiment.case(
                f"within {window:,} s, {size_named(size)}", rows=table.num_rows, clock="wall", window=window, batches=size_named(size)
            )
            compare(case, defined("ABCD", PATTERN, window), {"s": table}, size, options)
    experiment.save(options)


def by_phase(options: Options) -> None:
    experiment = Experiment(
        "tpstream_phases", "Where the time goes without partitions",
        "Fig. 5.17: *deriving* is the same text without its PATTERN, each situation a row; *matching* is what the pattern takes besides. "
        "There is nothing to merge at the borders of batches, which the thesis' second phase does. CPU seconds, all threads together.",
        show=("window", "batches", "threads", "part of matching"),
    )  # fmt: skip
    table, _ = events(options.rows(2_000_000, 40_000), dict.fromkeys("ABCD", Kind()))
    alone = "FROM s DEFINE A AS a, B AS b, C AS c, D AS d"
    for window in (5_000, 20_000):
        for size in sizes(options)[:-1]:
            for threads in THREADS:
                case = experiment.case(
                    f"within {window:,} s, {size_named(size)}, {threads_named(threads)}",
                    rows=table.num_rows, window=window, batches=size_named(size), threads=threads,
                )  # fmt: skip
                found = case.compare({
                    "deriving": partial(matched, alone, {"s": table}, size, threads),
                    "whole": partial(matched, defined("ABCD", PATTERN, window), {"s": table}, size, threads),
                }, options)  # fmt: skip
                case.facts["part of matching"] = round(max(1 - found["deriving"].best / found["whole"].best, 0.0), 2)
    experiment.save(options)


def main() -> None:
    options: Options = harness.options(__doc__)
    use_one_thread()
    by_partition(options)
    by_batch(options)
    by_phase(options)
    if not options.quick:
        tpstream_plots.draw_all(options.results, IMAGES if options.results == harness.RESULTS else options.results)


if __name__ == "__main__":
    main()
