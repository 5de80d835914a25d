"""Rates of TPStream: the query for aggressive drivers over traffic as Linear Road has it, and two threads."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from threading import Lock
from unittest.mock import patch

import numpy as np
import pyarrow as pa

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Experiment, Options
from benchmarks.linear_road import AGGRESSIVE_DRIVERS, Traffic
from benchmarks.one_thread import use_one_thread
from benchmarks.random_situations import Kind, events
from ostinato.runtime.workers import Work, Workers

REPORTS = 2_000_000
SENSORS = 4
STRAIN = " + ".join(f"(s{n} - m{n}) * (s{n} - m{n})" for n in range(SENSORS))
PLANT = f"""
    FROM plant
    DEFINE Strained AS {STRAIN} > 4 AT LEAST 100 MILLISECONDS, Hot AS s0 * s1 + s2 * s3 > 0.9 AND abs(s0 - s3) > 0.2,
           Shaking AS abs(s1 - PREV(s1)) + abs(s2 - PREV(s2)) + abs(s3 - m3) > 1.3, Uneven AS s0 + s1 + s2 > 1.9 AND s3 < 0
    PATTERN Strained overlaps;meets;contains Hot AND Hot before;overlaps;contains Shaking AND Shaking before Uneven
    WITHIN 2 SECONDS
    RETURN max(Strained.s0) AS s0, count(Hot.*) AS hot
"""
COMBINED = """FROM s {} DEFINE A AS a, B AS b, C AS c PATTERN A before B AND A before C AND B overlaps C WITHIN 3000"""


def plant(rows: int) -> pa.Table:
    """Readings of several sensors each millisecond, which swing slowly, and a mean of each: nothing that divides them."""
    random = np.random.default_rng(5)
    times = np.arange(rows)
    columns = {"ts": pa.array(times * 1_000, pa.timestamp("us"))}
    for number in range(SENSORS):
        columns[f"s{number}"] = np.sin(times / (310 + 97 * number)) + random.normal(0.0, 0.002, rows)
        columns[f"m{number}"] = 0.4 * np.sin(times / (1_510 + 190 * number))
    return pa.table(columns)


def skewed(reports: pa.Table) -> pa.Table:
    """Nine of ten reports are of one car, which drives a strange way."""
    cars = reports.column("car_id").to_numpy()
    return reports.set_column(1, "car_id", pa.array(np.where(cars % 10 == 0, cars, 1)))


def matched(table: pa.Table, text: str, name: str, **options: object) -> int:
    return len(ost.match(text, language="tpstream", streams={name: table}, **options).to_arrow())


def pushed(table: pa.Table, query: ost.Query, rows: int) -> int:
    """As a stream, so many rows at a time, with one thread."""
    session = query.open(lateness=0, threads=1)
    found = sum(session.push(table.slice(start, rows)).num_rows for start in range(0, table.num_rows, rows))
    return found + session.close().num_rows


def left_to_the_caller(table: pa.Table, text: str, stream: str) -> float:
    """The processor time of the thread that calls, of what it takes alone, where another one helps: on two idle cores the time that passes.
    Unlike that time it can be measured on a busy machine."""

    def seconds(threads: int) -> float:
        start = time.thread_time()
        matched(table, text, stream, threads=threads)
        return time.thread_time() - start

    return min(seconds(2) for _ in range(5)) / min(seconds(1) for _ in range(5))


def shared_by_threads(table: pa.Table, text: str, stream: str) -> float:
    """Of the processor time of two threads the part in which there is work for both: the rest is done by one, however idle the other."""
    shared, lock, each = [0.0], Lock(), Workers.each

    def timed(workers: Workers, pieces: int, work: Work, threads: int | None = None) -> None:
        def run(number: int) -> None:
            start = time.thread_time()
            work(number)
            with lock:
                shared[0] += time.thread_time() - start

        several = min(workers.most if threads is None else threads, workers.most, pieces) > 1
        each(workers, pieces, run if several else work, threads)

    found = []
    with patch.object(Workers, "each", timed):
        for _ in range(5):
            shared[0], start = 0.0, time.process_time()
            matched(table, text, stream, threads=2)
            taken = time.process_time() - start
            found.append((taken, shared[0] / taken))
    return min(found)[1]


def seen_by(cars: int, seconds: int) -> pa.Table:
    """The random situations of the thesis, of as many cars."""
    known = events(seconds, dict.fromkeys("ABC", Kind()))[0]
    row, car = np.divmod(np.arange(seconds * cars), cars)
    columns = {name: known.column(name).to_numpy(zero_copy_only=False)[(row + 997 * car) % seconds] for name in "abc"}
    return pa.table({"ts": row, "car": car, **columns})


def rates(options: Options) -> None:
    experiment = Experiment(
        "tpstream_rate", "TPStream: the aggressive drivers",
        "The query of the thesis (three situations, `RETURN first(B.car_id) AS id, avg(B.speed) AS avg_speed`) over generated reports of "
        "200 cars, each second one of each, on one core. *rare*: a car does what is looked for every six hours; *often*: every ten "
        "minutes. About 5 % of all reports are of cars that speed. *decided one by one*: `without=(\"quiet_rows\",)`.",
        show=("matches", "situations"),
    )  # fmt: skip
    for name, seconds in {"rare": 20_000, "often": 600}.items():
        table = Traffic(aggressive=1 / seconds).reports(options.rows(REPORTS, 40_000))
        case = experiment.case(name, rows=table.num_rows)
        query = ost.compile(AGGRESSIVE_DRIVERS, {"cars": table.schema}, language="tpstream")
        plain = ost.compile(AGGRESSIVE_DRIVERS, {"cars": table.schema}, language="tpstream", without=("quiet_rows",))
        found = case.compare(
            {
                "ost.match": partial(matched, table, AGGRESSIVE_DRIVERS, "cars", threads=1),
                "pushes of 100,000 rows": partial(pushed, table, query, 100_000),
                "pushes of 10,000 rows": partial(pushed, table, query, 10_000),
                "pushes of 100,000, decided one by one": partial(pushed, table, plain, 100_000),
            },
            options,
            same=lambda result: result,
        )
        metrics = ost.match(AGGRESSIVE_DRIVERS, language="tpstream", cars=table).metrics
        case.facts["matches"], case.facts["situations"] = found["ost.match"].result, metrics["situations_made"]
        if name == "rare":
            case.target_rate("ost.match", at_least=15e6)
    experiment.save(options)


def with_threads(options: Options) -> None:
    experiment = Experiment(
        "tpstream_threads", "TPStream: two threads",
        "Wall clock, two cores. *plant*: four definitions with arithmetic over eight columns of a stream that nothing divides; *drivers*: "
        "the query for aggressive drivers, by car; *skewed*: the same where nine of ten reports are of one car. "
        "*combined*, *combined by car*: random situations, A before B, A before C, B overlaps C, in one partition and of 40 cars. "
        "*caller's share*: the processor time of the calling thread where another one helps, of what it takes alone. *shared part*: of the "
        "processor time of both that part in which there is work for both.",
        show=("matches", "caller's share", "shared part"),
    )  # fmt: skip
    reports = Traffic().reports(options.rows(REPORTS, 40_000))
    cases: dict[str, tuple[pa.Table, str, str]] = {
        "plant": (plant(options.rows(2 * REPORTS, 40_000)), PLANT, "plant"),
        "drivers": (reports, AGGRESSIVE_DRIVERS, "cars"),
        "skewed": (skewed(reports), AGGRESSIVE_DRIVERS, "cars"),
        "combined": (seen_by(1, options.rows(REPORTS, 40_000)), COMBINED.format(""), "s"),
        "combined by car": (seen_by(40, options.rows(REPORTS, 40_000) // 40), COMBINED.format("PARTITION BY car"), "s"),
    }
    for name, (table, text, stream) in cases.items():
        case = experiment.case(name, rows=table.num_rows, clock="wall")
        runs: dict[str, Callable[[], int]] = {
            f"{threads} thread{'s' * (threads > 1)}": partial(matched, table, text, stream, threads=threads) for threads in (1, 2)
        }
        found = case.compare(runs, options, same=lambda result: result)
        case.facts["matches"] = found["1 thread"].result
        case.facts["shared part"] = round(shared_by_threads(table, text, stream), 2)
        case.facts["caller's share"] = round(left_to_the_caller(table, text, stream), 2)
        if name == "plant":
            case.target("2 threads", "1 thread", at_least=1.7)
    experiment.save(options)


def main() -> None:
    use_one_thread()
    options = harness.options(__doc__)
    rates(options)
    with_threads(options)


if __name__ == "__main__":
    main()
