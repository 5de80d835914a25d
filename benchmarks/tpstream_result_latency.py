"""How long a result takes on the clock: Fig. 5.12 of Körber's thesis, at the highest rate by the window, and by the rate of events."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

import ostinato as ost
from benchmarks import harness, tpstream_plots
from benchmarks.harness import Experiment, Options
from benchmarks.one_thread import use_one_thread
from benchmarks.random_situations import Kind, defined, events
from benchmarks.sase_plots import IMAGES

PATTERN = "A starts B AND B before C AND C overlaps D"
RETURNED = "RETURN first(A.ts) AS a, first(B.ts) AS b, first(C.ts) AS c, first(D.ts) AS d"
WINDOWS = (500, 2_000, 5_000, 20_000, 100_000)
RATES = (1_000, 100, 10, 1)  # events per second
WIDEST = 100_000
SEARCHED = 100_000  # events in which a result is looked for
MODES = {"ostinato": "earliest", "at the ends (ISEQ)": "final"}

Key = tuple[int, int, int, int]


@dataclass(frozen=True)
class Run:
    """`seconds` that each event took, and the events that gave the results, by the starts of their situations."""

    seconds: np.ndarray
    reported: dict[Key, int]


def one_by_one(table: pa.Table, before: int, window: int, latency: str) -> Run:
    """Events come one by one, after `before` of them at once; behind each the session is told that its second is over."""
    text = defined("ABCD", PATTERN, window, RETURNED)
    with warnings.catch_warnings(action="ignore"):
        session = ost.compile(text, {"s": table.schema}, language="tpstream", latency=latency).open(lateness=0)
    session.push(table.slice(0, before))
    pieces = [table.slice(number, 1) for number in range(before, table.num_rows)]
    seconds, reported = np.empty(len(pieces)), dict[Key, int]()
    for number, piece in enumerate(pieces):
        start = time.perf_counter()
        found = [session.push(piece), session.advance(before + number + 1)]
        seconds[number] = time.perf_counter() - start
        for row in (row for one in found for row in one.to_pylist()):
            reported[row["a"], row["b"], row["c"], row["d"]] = number
    return Run(seconds, reported)


def runs(window: int, options: Options) -> dict[str, Run]:
    """Some thousand events one by one, from shortly before a result on: in small windows these are rare."""
    whole, _ = events(window + SEARCHED, dict.fromkeys("ABCD", Kind()))
    with warnings.catch_warnings(action="ignore"):
        found = ost.match(defined("ABCD", PATTERN, window), language="tpstream", latency="earliest", s=whole).to_arrow()
    detected = found.column("detected_ts").to_numpy()
    before = int(detected[detected >= window].min()) - 100
    table = whole.slice(0, before + options.rows(3_000, 500))
    return {name: one_by_one(table, before, window, latency) for name, latency in MODES.items()}


def waited(found: dict[str, Run], name: str) -> tuple[np.ndarray, np.ndarray]:
    """Of the results that both report: the event that could give each, and the one that did."""
    first, own = found["ostinato"].reported, found[name].reported
    both = sorted(set.intersection(*(set(one.reported) for one in found.values())))
    if not both:
        raise AssertionError("no result is reported in both modes")
    return np.array([first[key] for key in both]), np.array([own[key] for key in both])


def by_window(options: Options) -> None:
    experiment = Experiment(
        "tpstream_result_latency",
        "Latency of a result by the window",
        "Fig. 5.12 (a): the disconnected pattern, events pushed one by one, the next as soon as the one before is done. From the arrival "
        "of the event at which a result is certain to its receipt, mean over the results. What waits for all ends is "
        '`latency="final"`, which reports when ISEQ does: ISEQ itself is a kernel over whole columns here. *Seconds*: of the clock.',
        show=("window", "results"),
    )  # fmt: skip
    for window in WINDOWS[:2] if options.quick else WINDOWS:
        found = runs(window, options)
        count = len(waited(found, "ostinato")[0])
        case = experiment.case(f"within {window:,} s", rows=count, clock="wall", window=window, results=count)
        for name, run in found.items():
            could, did = waited(found, name)
            until = np.concatenate([[0.0], np.cumsum(run.seconds)])
            case.record(name, [float((until[did + 1] - until[could]).mean())])
        case.target("ostinato", "at the ends (ISEQ)", at_least=1.01)
    experiment.save(options)


def by_rate(options: Options) -> None:
    experiment = Experiment(
        "tpstream_rate_latency",
        "Latency of a result by the rate of events",
        f"Fig. 5.12 (b), within {WIDEST:,} s. *event*: between the arrivals of the event at which a result is certain and of the one that "
        "gave it, which follows from the rate; *processing*: what that event took, measured at the highest rate. Rates beyond 1,000 "
        "events/s are left out: pushed one by one, more do not get through.",
        show=("rate", "results"),
    )
    found = runs(WIDEST if not options.quick else WINDOWS[0], options)
    for rate in RATES:
        count = len(waited(found, "ostinato")[0])
        case = experiment.case(f"{rate:,} events/s", rows=count, clock="wall", rate=rate, results=count)
        for name, run in found.items():
            could, did = waited(found, name)
            case.record(f"{name}: processing", [float(run.seconds[did].mean())])
            case.record(f"{name}: event and processing", [float(((did - could) / rate + run.seconds[did]).mean())])
    experiment.save(options)


def main() -> None:
    options: Options = harness.options(__doc__)
    use_one_thread()
    by_window(options)
    by_rate(options)
    if not options.quick:
        tpstream_plots.draw_all(options.results, IMAGES if options.results == harness.RESULTS else options.results)


if __name__ == "__main__":
    main()
