"""Interval joins of DuckDB and Polars on situations that are derived already, beside the pattern over their events and over the same
intervals."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Experiment, Options
from benchmarks.one_thread import use_one_thread
from benchmarks.random_situations import Kind, defined, events

QUERIES = {  # pattern, the same in SQL, and for Polars one join after the other
    "overlaps": ("A overlaps B", "a.s < b.s AND b.s < a.e AND a.e < b.e"),
    "disconnected": (
        "A starts B AND B before C AND C overlaps D",
        "a.s = b.s AND a.e < b.e AND b.e < c.s AND c.s < d.s AND d.s < c.e AND c.e < d.e",
    ),
    "chain": ("A overlaps B AND B contains C", "a.s < b.s AND b.s < a.e AND a.e < b.e AND b.s < c.s AND c.e < b.e"),
}


def tables_of(known: dict[str, np.ndarray]) -> dict[str, pa.Table]:
    return {name.lower(): pa.table({"s": found[:, 0], "e": found[:, 1]}) for name, found in known.items()}


def by_events(table: pa.Table, names: str, pattern: str, within: int) -> int:
    with warnings.catch_warnings(action="ignore"):
        text = defined(names, pattern, within)
        return ost.match(text, language="tpstream", latency="final", threads=1, s=table).to_arrow().num_rows


def by_intervals(situations: dict[str, pa.Table], pattern: str, within: int) -> int:
    listed = ", ".join(f"{name.upper()} FROM {name} INTERVAL (s, e)" for name in situations)
    text = f"FROM {next(iter(situations))} INTERVAL (s, e) DEFINE {listed} PATTERN {pattern} WITHIN {within}"
    with warnings.catch_warnings(action="ignore"):
        return ost.match(text, language="tpstream", latency="final", threads=1, **situations).to_arrow().num_rows


def by_duckdb(situations: dict[str, pa.Table], condition: str, within: int) -> int:
    names = list(situations)
    ends, starts = (", ".join(f"{name}.{column}" for name in names) for column in ("e", "s"))
    bound = f"greatest({ends}) - least({starts}) <= {within}"
    pairs = [f"{a}.s - {b}.s <= {within}" for a in names for b in names if a != b]  # follows from it, and bounds each join
    shown = ", ".join(f"{name}.s" for name in names)
    with duckdb.connect(config={"threads": 1}) as connection:
        for name, table in situations.items():
            connection.register(name, table)
        text = f"SELECT {shown} FROM {', '.join(names)} WHERE {condition} AND {bound} AND {' AND '.join(pairs)}"
        return connection.sql(text).to_arrow_table().num_rows


def by_polars(situations: dict[str, pa.Table], condition: str, within: int) -> int:
    frames = {name: pl.from_arrow(table).rename({"s": f"{name}.s", "e": f"{name}.e"}).lazy() for name, table in situations.items()}
    names = list(frames)
    joined, known = frames[names[0]], {names[0]}
    waiting = condition.split(" AND ")
    for name in names[1:]:
        known.add(name)
        ready = [one for one in waiting if {side.split(".")[0] for side in one.replace("=", "<").split(" < ")} <= known]
        waiting = [one for one in waiting if one not in ready]
        spans = [pl.col(f"{name}.e") - pl.col(f"{other}.s") <= within for other in known - {name}]
        joined = joined.join_where(frames[name], *map(_predicate, ready), *spans)
    ends, starts = ([pl.col(f"{name}.{column}") for name in names] for column in ("e", "s"))
    found = joined.filter(pl.max_horizontal(ends) - pl.min_horizontal(starts) <= within)
    return found.select([f"{name}.s" for name in names]).collect().height


def _predicate(text: str) -> pl.Expr:
    left, sign, right = text.split(" ")
    return pl.col(left) == pl.col(right) if sign == "=" else pl.col(left) < pl.col(right)


def compare(experiment: Experiment, rows: int, options: Options) -> None:
    table, known = events(rows, dict.fromkeys("ABCD", Kind()))
    for name, (pattern, condition) in QUERIES.items():
        names = "".join(one for one in "ABCD" if f"{one.lower()}." in condition)
        situations = tables_of({one: known[one] for one in names})
        columns = table.select(["ts", *situations])
        for within in (2_000, 20_000):
            case = experiment.case(f"{name}, {rows:,} events, within {within:,} s", rows=rows, window=within)
            runs: dict[str, Callable[[], Any]] = {
                "ostinato": lambda s=situations, p=pattern, w=within: by_intervals(s, p, w),
                "ostinato, events": lambda t=columns, n=names, p=pattern, w=within: by_events(t, n, p, w),
                "DuckDB": lambda s=situations, c=condition, w=within: by_duckdb(s, c, w),
                "Polars": lambda s=situations, c=condition, w=within: by_polars(s, c, w),
            }
            found = case.compare(runs, options, same=int)
            case.facts |= {"matches": found["ostinato"].result, "situations": sum(one.num_rows for one in situations.values())}
            for rival in ("DuckDB", "Polars"):
                case.target("ostinato", rival, at_least=1.0)


def main() -> None:
    options: Options = harness.options("Interval joins on derived situations")
    use_one_thread()
    experiment = Experiment(
        "tpstream_joins",
        "Interval joins on derived situations",
        "DuckDB and Polars join situations that were derived before, as does ours; in the second line it reads the events, derives and "
        "matches. One thread each.",
        show=("window", "situations", "matches"),
    )
    for rows in (60_000,) if options.quick else (2_000_000, 20_000_000):
        compare(experiment, rows, options)
    experiment.save(options)


if __name__ == "__main__":
    main()
