"""Patterns of situations beside ISEQ and the straw men: Fig. 5.8 (aggressive drivers) and 5.9 (a disconnected pattern) of Körber's thesis.

The first straw man derives situations by one MATCH_RECOGNIZE each and finds orders of their ends by another; the second describes the
pattern event by event. MATCH_RECOGNIZE reports one match for each beginning, so that what is compared is which accelerations are followed
by a match."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

import ostinato as ost
from benchmarks import harness, straw_man, tpstream_plots
from benchmarks.harness import Experiment, Options, announce
from benchmarks.iseq import Iseq
from benchmarks.linear_road import Traffic
from benchmarks.one_thread import use_one_thread
from benchmarks.random_situations import Kind, defined, events
from benchmarks.sase_plots import IMAGES

CARS = 100
LIMITS = {"A": "accel > 8", "B": "speed > 70", "C": "accel < -9"}
PATTERNS = {
    "full": [("A", "meets;overlaps;starts;during", "B"), ("B", "contains;finished by;overlaps;meets", "C"), ("A", "before", "C")],
    "simplified": [("A", "meets;overlaps", "B"), ("B", "overlaps;meets", "C"), ("A", "before", "C")],
}
WITHIN = 300
DISCONNECTED = [("A", "starts", "B"), ("B", "before", "C"), ("C", "overlaps", "D")]
WINDOWS = (500, 2_000, 5_000, 20_000, 100_000)


def said(constraints: list[tuple[str, str, str]]) -> str:
    return " AND ".join(" ".join(one) for one in constraints)


def matched(text: str, latency: str, **streams: Any) -> pa.Table:
    with warnings.catch_warnings(action="ignore"):
        return ost.match(text, language="tpstream", latency=latency, **streams).to_arrow()


def of_drivers(table: pa.Table, pattern: str) -> pa.Table:
    listed = ", ".join(f"{name} AS {condition}" for name, condition in LIMITS.items())
    text = f"FROM cars PARTITION BY car_id DEFINE {listed} PATTERN {said(PATTERNS[pattern])} WITHIN {WITHIN} SECONDS"
    return matched(f"{text} RETURN first(A.car_id) AS car, first(A.ts) AS begun", "final", cars=table)


def accelerations(found: pa.Table) -> int:
    return found.group_by(["car", "begun"]).aggregate([]).num_rows


def drivers_by_iseq(table: pa.Table, pattern: str) -> int:
    seconds = table.num_rows // CARS
    speed, accel = (np.ascontiguousarray(table.column(name).to_numpy().reshape(seconds, CARS).T) for name in ("speed", "accel"))
    engine = Iseq("ABC", PATTERNS[pattern], WITHIN)
    columns = {"A": accel > 8, "B": speed > 70, "C": accel < -9}
    return sum(engine.over({name: column[car] for name, column in columns.items()}) for car in range(CARS))


def by_phases(table: pa.Table, pattern: str) -> int:
    """The first straw man: situations, each by a MATCH_RECOGNIZE, then orders of their ends."""
    found = [straw_man.sql(straw_man.run_of(name, condition), cars=table) for name, condition in LIMITS.items()]
    situations = pa.concat_tables(found).sort_by([("ts", "ascending")])
    return straw_man.sql(straw_man.order_of_ends(pattern), situations=situations).num_rows


def by_events(table: pa.Table, pattern: str) -> int:
    """The second straw man: one pattern of events."""
    return straw_man.sql(straw_man.order_of_events(pattern), cars=table).num_rows


def compare_drivers(options: Options) -> None:
    experiment = Experiment(
        "tpstream_drivers",
        "Aggressive drivers by the number of events",
        "Fig. 5.8: the query of listing 5.1 without durations, over traffic as Linear Road has it, cars that report each second. ISEQ "
        "derives situations by a loop of its own. Straw man 1 finds situations by a MATCH_RECOGNIZE each and orders of their ends by "
        "another, straw man 2 is one pattern of events; both report one match for each acceleration.",
        show=("pattern", "matches", "accelerations"),
    )
    full, quick = (100_000, 400_000, 1_600_000), (20_000,)
    for rows in quick if options.quick else full:
        table = Traffic(cars=CARS, aggressive=1 / 2_000).reports(rows)
        for pattern in PATTERNS:
            matches = drivers_by_iseq(table, pattern)
            case = experiment.case(f"{rows:,} events, {pattern}", rows=rows, pattern=pattern, matches=matches)
            runs: dict[str, Callable[[], Any]] = {
                "ostinato": lambda t=table, p=pattern: of_drivers(t, p).num_rows,
                "ISEQ": lambda t=table, p=pattern: drivers_by_iseq(t, p),
            }
            case.compare(runs, options, same=int)
            if rows > full[1]:
                continue
            others: dict[str, Callable[[], Any]] = {
                "straw man 1": lambda t=table, p=pattern: by_phases(t, p),
                "straw man 2": lambda t=table, p=pattern: by_events(t, p),
            }
            known = accelerations(of_drivers(table, pattern))
            found = case.compare(others, options, same=int)
            case.facts["accelerations"] = known
            announce(f"  {known} accelerations with a match, by the straw men: {[one.result for one in found.values()]}")
            for name in others:
                case.target("ostinato", name, at_least=20.0)
    experiment.save(options)


def compare_disconnected(options: Options) -> None:
    experiment = Experiment(
        "tpstream_disconnected",
        "A disconnected pattern by the window",
        "Fig. 5.9: A starts B, B before C, C overlaps D, over the thesis' random situations, an event per second. ISEQ derives situations "
        "by a loop of its own over columns in memory, and writes the starts of what it finds; ours makes the table of results.",
        show=("window", "matches"),
    )
    rows = options.rows(2_000_000, 60_000)
    table, known = events(rows, dict.fromkeys("ABCD", Kind()))
    columns = {name: table.column(name.lower()).to_numpy() for name in "ABCD"}
    for window in WINDOWS[:2] if options.quick else WINDOWS:
        engine = Iseq("ABCD", DISCONNECTED, window)
        text = defined("ABCD", said(DISCONNECTED), window)
        case = experiment.case(f"within {window:,} s", rows=rows, window=window, matches=engine.match(known)[0])
        runs: dict[str, Callable[[], Any]] = {
            "ostinato": lambda t=text: matched(t, "final", s=table).num_rows,
            "ISEQ": lambda e=engine: e.over(columns),
        }
        case.compare(runs, options, same=int)
        case.compare({"ostinato, earliest": lambda t=text: matched(t, "earliest", s=table).num_rows}, options)
        if window == WINDOWS[-1]:
            case.target("ostinato", "ISEQ", at_least=3.0)
    experiment.save(options)


def main() -> None:
    options = harness.options("Patterns of situations, ISEQ and straw men")
    use_one_thread()
    compare_disconnected(options)
    compare_drivers(options)
    if not options.quick:
        tpstream_plots.draw_all(options.results, IMAGES if options.results == harness.RESULTS else options.results)


if __name__ == "__main__":
    main()
