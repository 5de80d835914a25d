"""The V shape through `ost.sql` against Python's re, DuckDB and NumPy: `A B+ C+`, falling then rising, with measures.

Everything runs on one thread. The input is an Arrow table in memory for all; every contender returns the same five columns."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from benchmarks import harness
from benchmarks.harness import Experiment, Options
from benchmarks.one_thread import use_one_thread
from benchmarks.peak_memory import peak_memory
from benchmarks.ticks import random_walk

QUERY = """
SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY key ORDER BY ts
  MEASURES A.ts AS start_ts, LAST(B.price) AS bottom, LAST(C.ts) AS end_ts, COUNT(*) AS ticks
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B+ C+)
  DEFINE B AS price < PREV(price), C AS price > PREV(price)
)
"""


def engine(table: pa.Table) -> pa.Table:
    import ostinato as ost

    return ost.sql(QUERY, ticks=table).to_arrow()


def work(contender: str, rows: int, keys: int) -> Iterator[None]:
    """For the memory measurement: load, then match."""
    use_one_thread()
    table = random_walk(rows, keys)
    yield
    _contenders(table)[contender]()


def _contenders(table: pa.Table):
    from benchmarks import v_rivals

    return {
        "ostinato": lambda: engine(table),
        "re": lambda: v_rivals.by_re(table),
        "duckdb": lambda: v_rivals.by_duckdb(table),
        "numpy": lambda: v_rivals.by_numpy(table),
    }


def fingerprint(matches: pa.Table) -> tuple[int, int, float]:
    """What all contenders must agree on: how many matches, how many ticks in them, and the sum of the lowest prices."""
    ticks = pa.compute.sum(matches["ticks"]).as_py() or 0
    return matches.num_rows, int(ticks), round(pa.compute.sum(matches["bottom"]).as_py() or 0.0, 2)


def measure(experiment: Experiment, rows: int, keys: int, options: Options) -> None:
    case = experiment.case(f"{keys:,} keys", rows=rows, keys=keys)
    table = random_walk(rows, keys)
    found = case.compare(_contenders(table), options, same=fingerprint)
    del table
    if not options.quick:
        for name, measurement in found.items():
            peak, loaded = peak_memory("benchmarks.v_shape:work", contender=name, rows=rows, keys=keys)
            measurement.peak_mb = peak
            case.facts["input_mb"] = round(loaded)
    case.facts["matches"] = found["ostinato"].result[0]
    case.target("ostinato", "re", at_least=2.0)
    case.target("ostinato", "duckdb", at_least=8.0)
    if keys > 1_000:
        case.target("ostinato", "numpy", at_least=1.0)


def main() -> None:
    options = harness.options(__doc__ or "")
    use_one_thread()
    experiment = Experiment(
        "v_shape",
        "V shape: `A B+ C+` through `ost.sql`",
        "Falling then rising prices, partitioned, measures included, one thread, CPU time of the process. The rivals produce the "
        "same rows: `re` runs over one byte per row prepared with NumPy, DuckDB runs a gaps-and-islands rewrite, NumPy is written by hand.",
        show=("keys", "matches", "input_mb"),
    )
    rows = options.rows(10_000_000, 100_000)
    for keys in (2, options.rows(100_000, 1_000)):
        measure(experiment, rows, keys, options)
    experiment.save(options)


if __name__ == "__main__":
    main()
