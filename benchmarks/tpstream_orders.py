"""How good evaluation orders are: as planned (Fig. 5.13 of Körber's thesis), and as they follow a stream that changes (Fig. 5.14)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, permutations, product
from typing import Any

import pyarrow as pa

import ostinato as ost
from benchmarks import harness, tpstream_plots
from benchmarks.harness import Case, Experiment, Options
from benchmarks.one_thread import use_one_thread
from benchmarks.random_situations import Kind, defined, events
from benchmarks.sase_plots import IMAGES
from ostinato.program.intervals import IntervalPattern
from ostinato.query import Query

QUERIES = {
    "Q1": "A overlaps B AND A overlaps C AND B starts C",
    "Q2": "A overlaps B AND A before C AND B overlaps C",
    "Q3": "A before B AND A before C AND B before C",
}
CHANGES = {"1:1:1": (100, 100, 100), "1:50:50": (400, 8, 8), "50:1:50": (8, 400, 8)}  # seconds from one situation to the next, on average
WITHIN = 1_000
NAMES = "ABC"
Orders = tuple[tuple[int, ...], ...]


def query(text: str, table: pa.Table, *, latency: str = "final", orders: Orders | None = None, adapts: bool = False) -> Query:
    with warnings.catch_warnings(action="ignore"):
        found = ost.compile(text, {"s": table.schema}, language="tpstream", latency=latency)
    pattern = found.pattern
    assert isinstance(pattern, IntervalPattern)
    return replace(found, pattern=replace(pattern, orders=orders or pattern.orders, adapts=adapts))


@dataclass(frozen=True)
class Done:
    """Over the tables one after the other, in one session: situations that were looked at, and seconds, by table."""

    matches: int
    visited: tuple[int, ...]
    seconds: tuple[float, ...]
    changes: int


def run(query: Query, tables: list[pa.Table], size: int = 65_536) -> Done:
    session = query.open(lateness=0)
    matches, visited, seconds = 0, [0], []
    for table in tables:
        begun = time.process_time()
        for at in range(0, table.num_rows, size):
            matches += session.push("s", table.slice(at, size)).num_rows
        if table is tables[-1]:
            matches += session.close().num_rows
        seconds.append(time.process_time() - begun)
        visited.append(session.metrics()["visited_situations"])
    parts = tuple(after - before for before, after in pairwise(visited))
    return Done(matches, parts, tuple(seconds), session.metrics()["order_changes"])


def all_orders() -> Iterator[Orders]:
    yield from product(*([(first, *rest) for rest in permutations([n for n in range(3) if n != first])] for first in range(3)))


def looked_at(text: str, tables: list[pa.Table]) -> dict[Orders, tuple[int, ...]]:
    """How many situations each choice of orders looks at, by table."""
    return {orders: run(query(text, tables[0], orders=orders), tables).visited for orders in all_orders()}


def measure_plans(options: Options) -> None:
    experiment = Experiment(
        "tpstream_plans",
        "Evaluation orders as they are planned",
        "Fig. 5.13: three random situations, an event per second, within 5,000 s. Best and worst of the eight choices of orders, by the "
        "situations that they look at, the one of Table 5.3, and the one that follows what is measured. Final mode.",
        show=("visited, best", "visited, worst", "visited, planned", "visited, adaptive", "matches"),
    )
    rows = options.rows(150_000, 20_000)
    table, _ = events(rows, dict.fromkeys(NAMES, Kind()))
    for name, pattern in QUERIES.items():
        text = defined(NAMES, pattern, 5_000)
        costs = looked_at(text, [table])
        chosen = {"best": min(costs, key=costs.__getitem__), "worst": max(costs, key=costs.__getitem__), "planned": None}
        runs = {said: query(text, table, orders=orders) for said, orders in chosen.items()} | {"adaptive": query(text, table, adapts=True)}
        compare(experiment.case(name, rows=rows), runs, [table], options)
    experiment.save(options)


def compare(case: Case, runs: dict[str, Query], tables: list[pa.Table], options: Options) -> None:
    for name, one in runs.items():
        done = run(one, tables)
        case.facts |= {"matches": done.matches, f"visited, {name}": sum(done.visited), f"changes, {name}": done.changes}
    contenders: dict[str, Callable[[], Any]] = {name: partial(run, one, tables) for name, one in runs.items()}
    case.compare(contenders, options, same=lambda done: done.matches)


def phases(rows: int) -> list[pa.Table]:
    """One after the other, in each of which situations are as frequent as its name says."""
    found = []
    for number, cycles in enumerate(CHANGES.values()):
        kinds = {
            name: Kind(lasts=(2, 6), rests=(cycle // 4, 2 * cycle - cycle // 4 - 8)) for name, cycle in zip(NAMES, cycles, strict=True)
        }
        found.append(events(rows, kinds, seed=7 + number, first=number * rows)[0])
    return found


def measure_adaption(options: Options) -> None:
    experiment = Experiment(
        "tpstream_adaption",
        "Evaluation orders that follow the stream",
        "Fig. 5.14: Q3 over a stream in which the shares of A, B and C change from 1:1:1 to 1:50:50 and 50:1:50. Optimal is the best "
        "choice of orders of each phase, switched to when the phase begins; the initial ones are the best of the first phase.",
        show=("visited, best of 1:1:1", "visited, optimal", "visited, adaptive", "changes", "matches"),
    )
    rows = options.rows(200_000, 10_000)
    tables = phases(rows)
    text = defined(NAMES, QUERIES["Q3"], WITHIN)
    costs = looked_at(text, tables)
    best = [min(costs, key=lambda orders, at=at: costs[orders][at]) for at in range(len(tables))]
    contenders = {"adaptive": query(text, tables[0], adapts=True)}
    contenders |= {f"best of {name}": query(text, tables[0], orders=orders) for name, orders in zip(CHANGES, best, strict=True)}
    done = {name: [run(one, tables) for _ in range(1 + options.repeats)][1:] for name, one in contenders.items()}
    for at, name in enumerate([*CHANGES, "all"]):
        case = experiment.case(f"phase {name}" if at < len(tables) else "all phases", rows=rows if at < len(tables) else 3 * rows)
        chosen = [at] if at < len(tables) else list(range(len(tables)))
        for who, runs in done.items():
            case.record(who, [sum(one.seconds[part] for part in chosen) for one in runs])
            case.facts[f"visited, {who}"] = sum(runs[0].visited[part] for part in chosen)
        optimal = [done[f"best of {list(CHANGES)[part]}"] for part in chosen]
        case.record("optimal", [sum(min(one.seconds[part] for one in runs) for part, runs in zip(chosen, optimal, strict=True))])
        case.facts["visited, optimal"] = sum(runs[0].visited[part] for part, runs in zip(chosen, optimal, strict=True))
        case.facts |= {"matches": done["adaptive"][0].matches, "changes": done["adaptive"][0].changes}
    case.target_part(
        "adaptive looks at no more than 2 % more than optimal",
        case.facts["visited, adaptive"],
        case.facts["visited, optimal"],
        at_most=1.02,
    )
    case.target("adaptive", "optimal", at_least=1 / 1.02)
    experiment.save(options)


def main() -> None:
    options = harness.options("Evaluation orders")
    use_one_thread()
    measure_plans(options)
    measure_adaption(options)
    if not options.quick:
        tpstream_plots.draw_all(options.results, IMAGES if options.results == harness.RESULTS else options.results)


if __name__ == "__main__":
    main()
