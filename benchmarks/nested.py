"""The experiments of the paper on nested patterns (its Fig. 10 and 11): nested expressions searched again, cached, and joined."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import duckdb
import numpy as np
import pyarrow as pa

import ostinato as ost
from benchmarks import harness, nested_plots
from benchmarks.harness import Experiment, Options
from benchmarks.one_thread import use_one_thread
from benchmarks.sase_plots import IMAGES

EVENTS, FEWER = 200_000, 20_000  # where nothing takes long, and the sessions' own cost would be most of it; elsewhere
BATCH, HELD_BATCH = 50_000, 2_000  # what is timed, what is looked at after every batch
WINDOWS = (12, 25, 50, 100, 200, 400, 800, 1_600)
MOST_WITH_MANY = 100
MOST = {"iterative": 400, "object cache": 400, "semantic cache": 400, "joins": 800}  # beyond that one run takes a minute and more
MOST_DUCKDB = 50
RATES = {"YHOO": 0.2, "QQQ": 0.2, "AMAT": 0.2, "DELL": 0.0003, "ORCL": 0.2, "IPIX": 0.02}
IN_VAIN = RATES | {"DELL": 0.00001}
IN_VAIN_EVENTS = {50: 100_000, 100: 100_000, 200: 100_000, 400: 10_000, 800: 4_000}  # by the window: *iterative* takes a minute at last
EVALUATIONS = ("iterative", "object cache", "semantic cache", "joins")
UNLIMITED = ost.Budget(steps=10**12)  # *iterative* looks at more than a call may by default
QUERY = "PATTERN SEQ(YHOO y, SEQ(QQQ q, AMAT a, DELL d), ORCL o, IPIX i) WITHIN {window}"
FLAT = """PATTERN SEQ(YHOO y, QQQ q, AMAT a, DELL d, ORCL o, IPIX i) WHERE skip_till_any_match(y, q, a, d, o, i) {{ y.price > 0 }}
WITHIN {window} OUTPUT count"""
NEGATED = "PATTERN SEQ(YHOO y, !SEQ(QQQ q, AMAT a), ORCL o) WITHIN {window}"
NEGATED_RATES = {"YHOO": 0.02, "QQQ": 0.2, "AMAT": 0.2, "ORCL": 0.02}


def trades(count: int, rates: dict[str, float]) -> pa.Table:
    """Trades of these symbols and of others."""
    random = np.random.default_rng(1)
    names, shares = [*rates, "MSFT"], [*rates.values(), 1.0 - sum(rates.values())]
    return pa.table({"ts": np.arange(count), "symbol": random.choice(names, count, p=shares), "price": random.integers(1, 100, count)})


def compiled(table: pa.Table, text: str, strategy: str | None) -> ost.Query:
    options = {"language": "neel", "type_by": "symbol", "time": "ts", "strategy": strategy, "output": "count"}
    return ost.compile(text, {"trades": table.schema}, **options)


def counted(table: pa.Table, query: ost.Query) -> int:
    """The trades as they come, in small batches: what the window leaves behind is given up."""
    session = query.open(budget=UNLIMITED)
    for start in range(0, table.num_rows, BATCH):
        session.push(table.slice(start, BATCH))
    return int(session.close().column("count")[0].as_py())


def flat(table: pa.Table, window: int) -> int:
    with warnings.catch_warnings(action="ignore"):
        found = ost.match(FLAT.format(window=window), trades=table, type_by="symbol", time="ts").to_arrow()
    return int(found.column("count")[0].as_py())


def self_joins(table: pa.Table, window: int) -> int:
    names = "yqadoi"
    tables = [f"(SELECT ts FROM trades WHERE symbol = '{symbol}') {name}" for name, symbol in zip(names, RATES, strict=True)]
    joins = [tables[3]]  # the rarest first, and each of the others near it: without that DuckDB joins everything with everything
    for place, (one, other) in {4: "do", 5: "oi", 2: "ad", 1: "qa", 0: "yq"}.items():
        near = f"{names[place]}.ts BETWEEN d.ts - {window} AND d.ts + {window}"
        joins.append(f"JOIN {tables[place]} ON {near} AND {one}.ts < {other}.ts")
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("trades", table)
        connection.execute("SET disabled_optimizers = 'join_order'")
        found = connection.execute(f"SELECT count(*) FROM {' '.join(joins)} WHERE y.ts >= i.ts - {window}").fetchone()
    return int(found[0]) if found else 0


def contenders(table: pa.Table, window: int) -> dict[str, Callable[[], int]]:
    text = QUERY.format(window=window)
    queries = {name: compiled(table, text, name) for name in EVALUATIONS if window <= MOST[name]}
    runs: dict[str, Callable[[], int]] = {name: lambda query=query: counted(table, query) for name, query in queries.items()}
    planned = compiled(table, text, None)
    runs["planned"] = lambda: counted(table, planned)
    runs["SASE+, flat"] = lambda: flat(table, window)
    if window <= MOST_DUCKDB:
        runs["DuckDB self-joins"] = lambda: self_joins(table, window)
    return runs


def by_window(options: Options) -> None:
    experiment = Experiment(
        "nested_windows", "Nested patterns: the paper's Fig. 10 and 11",
        "`SEQ(YHOO y, SEQ(QQQ q, AMAT a, DELL d), ORCL o, IPIX i)` over generated trades by growing windows; matches are counted, one by "
        f"one except by SASE+ and, for their last event, by *joins*, in a session with batches of {BATCH:,} events (SASE+, DuckDB: all at "
        f"once); {FEWER:,} events from a window of 200 on. Of all trades a fifth each are of YHOO, QQQ, AMAT and ORCL, 2 % of IPIX and "
        "0.03 % of DELL: many outer combinations, few matches of the nested expression. *planned* is what measured rates pick: nothing is "
        "left of the nesting, and matches are counted by *joins* in small windows, by `compact` in large ones. *visited* are the events "
        f"and kept matches that a cache looks at; *kept* the most that it held after a batch of {HELD_BATCH:,}: matches of the nested "
        "expression, or intervals. In a list of intervals, as the paper searches it, small windows would cost the semantic cache more "
        "than the few matches of the object cache; here intervals are found through a tree.",
        show=("window", "matches", "visited, object", "visited, semantic", "kept matches", "kept intervals"),
    )  # fmt: skip
    for window in WINDOWS[:3] if options.quick else WINDOWS:
        table = trades(options.rows(EVENTS if window <= MOST_WITH_MANY else FEWER, 2_000), RATES)
        case = experiment.case(f"window {window}", rows=table.num_rows, window=window)
        found = case.compare(contenders(table, window), options, same=lambda result: result, warm_up=int(window <= MOST_WITH_MANY))
        case.facts["matches"] = found["planned"].result
        for name, kind, what in (("object", "kept_results", "matches"), ("semantic", "kept_intervals", "intervals")):
            if window <= MOST[f"{name} cache"]:
                held = most_held(table, QUERY.format(window=window), f"{name} cache", kind)
                case.facts[f"kept {what}"], case.facts[f"visited, {name}"] = held.kept, held.visited
        if window in (12, 25):
            case.target("object cache", "semantic cache", at_least=1.0)
        if window in (100, 200, 400):
            case.target("semantic cache", "object cache", at_least=1.0)
            if window == MOST["iterative"]:
                case.target("semantic cache", "iterative", at_least=10.0)
            best = min(("object cache", "semantic cache"), key=lambda name: found[name].best)
            case.target(min(("planned", "joins"), key=lambda name: found[name].best), best, at_least=10.0)
    experiment.save(options)


def in_vain(options: Options) -> None:
    """Hardly any match: what counts is how often a nested expression is searched that is not there."""
    experiment = Experiment(
        "nested_in_vain", "Nested patterns: nested expressions that are searched in vain",
        "The same query where DELL, the last of the nested expression, is thirty times rarer still: *iterative* looks for it behind every "
        "pair of QQQ and AMAT of every outer combination, and hardly ever finds it, so that matches are not what takes the time.",
        show=("window", "matches"),
    )  # fmt: skip
    for window in (50, 100) if options.quick else IN_VAIN_EVENTS:
        table = trades(options.rows(IN_VAIN_EVENTS[window], 2_000), IN_VAIN)
        case = experiment.case(f"window {window}", rows=table.num_rows, window=window)
        queries = {name: compiled(table, QUERY.format(window=window), name) for name in EVALUATIONS}
        queries["planned"] = compiled(table, QUERY.format(window=window), None)
        runs: dict[str, Callable[[], int]] = {name: partial(counted, table, query) for name, query in queries.items()}
        found = case.compare(runs, options, same=lambda result: result, warm_up=int(window <= MOST_WITH_MANY))
        case.facts["matches"] = found["joins"].result
        best = min(("object cache", "semantic cache"), key=lambda name: found[name].best)
        if window >= 200:
            case.target(best, "iterative", at_least=10.0 if window < 800 else 100.0)
    experiment.save(options)


def even_mix(options: Options) -> None:
    """No symbol is rare: most of what is looked at becomes a match, and there is little to save."""
    experiment = Experiment(
        "nested_even", "Nested patterns: Fig. 10 with symbols that are equally frequent",
        "The same query where each of the six symbols has 5 % of the trades: most of what is looked at becomes a match.",
        show=("window", "matches"),
    )  # fmt: skip
    table = trades(options.rows(FEWER, 2_000), dict.fromkeys(RATES, 0.05))
    for window in (25, 50) if options.quick else (50, 100, 200):
        case = experiment.case(f"window {window}", rows=table.num_rows, window=window)
        queries = {name: compiled(table, QUERY.format(window=window), name) for name in EVALUATIONS}
        runs = {name: lambda query=query: counted(table, query) for name, query in queries.items()}
        case.facts["matches"] = case.compare(runs, options, same=lambda result: result)["joins"].result
    experiment.save(options)


def negated_memory(options: Options) -> None:
    experiment = Experiment(
        "nested_flags", "Nested patterns: flags of a negated expression against its matches",
        "`SEQ(YHOO y, !SEQ(QQQ q, AMAT a), ORCL o)` over generated trades: the *object cache* keeps the matches of the negated expression, "
        "the *semantic cache* one flag per interval that was asked for. *kept* is the most results or flags that were held after a batch, "
        "*bytes* the most that the state took.", show=("window", "kept results", "bytes of results", "kept flags", "bytes of flags"),
    )  # fmt: skip
    table = trades(options.rows(FEWER, 2_000), NEGATED_RATES)
    for window in (25, 50, 100) if options.quick else (25, 50, 100, 200, 400):
        text = NEGATED.format(window=window)
        case = experiment.case(f"window {window}", rows=table.num_rows, window=window)
        for name, kind, what in (("object cache", "kept_results", "results"), ("semantic cache", "kept_intervals", "flags")):
            held = most_held(table, text, name, kind)
            case.facts[f"kept {what}"], case.facts[f"bytes of {what}"] = held.kept, held.bytes
        queries = {name: compiled(table, text, name) for name in EVALUATIONS}
        runs = {name: lambda query=query: counted(table, query) for name, query in queries.items()}
        case.compare(runs, options, same=lambda result: result)
    experiment.save(options)


@dataclass(frozen=True)
class Held:
    """The most that a session held after a batch, and how many events and kept matches it looked at."""

    kept: int
    bytes: int
    visited: int


def most_held(table: pa.Table, text: str, strategy: str, kind: str) -> Held:
    session = compiled(table, text, strategy).open()
    most = most_bytes = visited = 0
    for start in range(0, table.num_rows, HELD_BATCH):
        session.push(table.slice(start, HELD_BATCH))
        metrics = session.metrics()
        most, most_bytes, visited = max(most, metrics[kind]), max(most_bytes, metrics["state_bytes"]), metrics["visited_events"]
    session.close()
    return Held(most, most_bytes, visited)


def main() -> None:
    options = harness.options(__doc__ or "")
    use_one_thread()
    by_window(options)
    in_vain(options)
    even_mix(options)
    negated_memory(options)
    if not options.quick:
        nested_plots.draw_all(options.results, IMAGES if options.results == harness.RESULTS else options.results)


if __name__ == "__main__":
    main()
