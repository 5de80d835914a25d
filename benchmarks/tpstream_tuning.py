"""How batches and threads follow the load: Fig. 5.18 of Körber's thesis.

Events come at changing rates; what comes in a tenth of a second is pushed at once, as fast as the session takes it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import pyarrow as pa

import ostinato as ost
from benchmarks import harness, tpstream_plots
from benchmarks.fixed_batches import batches_of
from benchmarks.harness import Experiment, Options
from benchmarks.linear_road import AGGRESSIVE_DRIVERS, Traffic
from benchmarks.one_thread import use_one_thread
from benchmarks.random_situations import Kind, defined, events
from benchmarks.sase_plots import IMAGES
from benchmarks.tpstream_rate import PLANT, plant
from ostinato.runtime.row_code.batch_tuning import BatchTuning

RATES = (2_000_000, 1_000_000, 500_000, 100_000, 500_000, 1_000_000, 2_000_000)  # events per second, as the thesis' rates relate
PUSHES = 3  # at each rate
PER_SECOND = 10
THREADS = 2
FIXED = 256  # rows of a batch, of the runs that are not tuned
PATTERN = "A starts B AND B before C AND C overlaps D"

Step = dict[str, float]


@contextmanager
def watched(steps: list[Step]) -> Iterator[None]:
    """Notes what is chosen for each push."""
    chosen = BatchTuning.choose

    def choose(self: BatchTuning, rows: int) -> None:
        chosen(self, rows)
        steps.append({"rows": rows, "threads": self.threads, "batch": self.size})

    BatchTuning.choose = choose  # type: ignore[method-assign]
    try:
        yield
    finally:
        BatchTuning.choose = chosen  # type: ignore[method-assign]


def pushes(table: pa.Table, options: Options) -> list[pa.Table]:
    sizes = [options.rows(rate, rate // 50) // PER_SECOND for rate in RATES for _ in range(PUSHES)]
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    return [table.slice(start, size) for start, size in zip(starts, sizes, strict=True)]


def run(query: ost.Query, pieces: list[pa.Table], tuned: bool) -> tuple[float, list[Step], int]:
    """The seconds of all pushes, what was chosen for each, and the matches."""
    steps: list[Step] = []
    session = query.open(lateness=0, threads=THREADS)
    found, begun = 0, time.perf_counter()
    with nullcontext() if tuned else batches_of(FIXED), watched(steps):
        for piece in pieces:
            found += session.push(piece).num_rows
    return time.perf_counter() - begun, steps, found + session.close().num_rows


def follow(experiment: Experiment, name: str, text: str, table: pa.Table, stream: str, options: Options) -> None:
    with warnings.catch_warnings(action="ignore"):
        query = ost.compile(text, {stream: table.schema}, language="tpstream")
    pieces = pushes(table, options)
    case = experiment.case(name, rows=sum(piece.num_rows for piece in pieces), clock="wall")
    run(query, pieces, tuned=True)
    seconds: dict[bool, list[float]] = {True: [], False: []}
    matches = set()
    for _ in range(options.repeats):
        for tuned in seconds:
            taken, steps, found = run(query, pieces, tuned)
            seconds[tuned].append(taken)
            matches.add(found)
            if tuned:
                case.facts["steps"] = steps
    if len(matches) > 1:
        raise AssertionError(f"batches change what is found: {matches}")
    case.record("tuned", seconds[True])
    case.record(f"batches of {FIXED}", seconds[False])
    case.facts["matches"] = matches.pop()
    case.facts["threads"] = " ".join(str(step["threads"]) for step in case.facts["steps"][::PUSHES])
    case.facts["rows of a batch"] = " ".join(f"{step['batch']:,}" for step in case.facts["steps"][::PUSHES])


def main() -> None:
    options: Options = harness.options(__doc__)
    use_one_thread()
    experiment = Experiment(
        "tpstream_tuning", "Batches and threads under changing load",
        "Fig. 5.18: seven phases of 2, 1, 0.5, 0.1, 0.5, 1 and 2 million events/s; what comes in a tenth of a second is one push. What is "
        "chosen at the beginning of each phase, and the seconds of all pushes, beside two threads with batches of 256 rows, which the "
        "thesis begins with. *plant*: four definitions with arithmetic over eight columns. At most two threads: there are two cores.",
        show=("threads", "rows of a batch", "matches"),
    )  # fmt: skip
    rows = sum(RATES) * PUSHES // PER_SECOND
    rows = options.rows(rows, rows // 50)
    situations, _ = events(rows, dict.fromkeys("ABCD", Kind()))
    follow(experiment, "aggressive drivers", AGGRESSIVE_DRIVERS, Traffic().reports(rows), "cars", options)
    follow(experiment, "plant", PLANT, plant(rows), "plant", options)
    for window in (20_000, 500):
        follow(experiment, f"disconnected, {window:,} s", defined("ABCD", PATTERN, window), situations, "s", options)
    experiment.save(options)
    if not options.quick:
        tpstream_plots.draw_all(options.results, IMAGES if options.results == harness.RESULTS else options.results)


if __name__ == "__main__":
    main()
