"""The V shape through `ost.sql` against Python's re, DuckDB, Polars and NumPy: `A B+ C+`, falling then rising, with three measures.

Everything runs on one thread. The input is an Arrow table in memory for all; every contender returns the same four columns."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from benchmarks import harness
from benchmarks.harness import Experiment, Options
from benchmarks.one_thread import use_one_thread
from benchmarks.peak_memory import peak_memory
from benchmarks.ticks import random_walk, with_text_keys

QUERY = """
SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY key ORDER BY ts
  MEASURES A.ts AS start_ts, LAST(B.price) AS bottom, LAST(C.ts) AS end_ts
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B+ C+)
  DEFINE B AS price < PREV(price), C AS price > PREV(price)
)
"""

RATES = {2: 25e6, 10_000: 25e6, 100_000: 20e6, 1_000_000: 10e6}  # rows/s that are asked for, by keys
COMPARED = (2, 100_000)  # with all rivals


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
        "polars": lambda: v_rivals.by_polars(table),
        "polars, sorted": lambda: v_rivals.by_sorted_polars(table),
        "numpy": lambda: v_rivals.by_numpy(table),
    }


def fingerprint(matches: pa.Table) -> tuple[int, int, float]:
    """What all contenders must agree on: how many matches, how long they last, and the sum of the lowest prices."""
    lasts = pa.compute.subtract(matches["end_ts"].cast(pa.int64()), matches["start_ts"].cast(pa.int64()))
    return matches.num_rows, pa.compute.sum(lasts).as_py() or 0, round(pa.compute.sum(matches["bottom"]).as_py() or 0.0, 2)


def measure(experiment: Experiment, rows: int, keys: int, options: Options, *, compared: bool) -> None:
    case = experiment.case(f"{keys:,} keys", rows=rows, keys=keys)
    table = random_walk(rows, keys)
    contenders = _contenders(table)
    found = case.compare(contenders if compared else {"ostinato": contenders["ostinato"]}, options, same=fingerprint)
    del table, contenders
    if not options.quick:
        for name, measurement in found.items():
            peak, loaded = peak_memory("benchmarks.v_shape:work", contender=name, rows=rows, keys=keys)
            measurement.peak_mb = peak
            case.facts["input_mb"] = round(loaded)
    case.facts["matches"] = found["ostinato"].result[0]
    if keys in RATES:
        case.target_rate("ostinato", at_least=RATES[keys])
    if compared:
        case.target("ostinato", "re", at_least=4.0)
        case.target("ostinato", "duckdb", at_least=15.0)
        case.target("ostinato", "polars", at_least=15.0)
        case.target("ostinato", "polars, sorted", at_least=1.0)
        case.target("ostinato", "numpy", at_least=1.0)


def measure_text(experiment: Experiment, rows: int, keys: int, options: Options) -> None:
    """The same rows by numbers and by names of eight letters."""
    case = experiment.case(f"{keys:,} keys, texts", rows=rows, keys=keys)
    numbers = random_walk(rows, keys)
    texts = with_text_keys(numbers)
    found = case.compare({"integers": lambda: engine(numbers), "texts": lambda: engine(texts)}, options, same=fingerprint)
    case.facts["matches"] = found["texts"].result[0]
    case.target("texts", "integers", at_least=1 / 1.3)


def main() -> None:
    options = harness.options(__doc__ or "")
    use_one_thread()
    experiment = Experiment(
        "v_shape",
        "V shape: `A B+ C+` through `ost.sql`",
        "Falling then rising prices, partitioned, three measures included, one thread, CPU time of the process. The rivals produce the "
        "same rows: `re` runs over one byte per row prepared with NumPy, DuckDB and Polars run a gaps-and-islands rewrite with window "
        "functions, NumPy what is written by hand, and Polars that as well (*sorted*).",
        show=("keys", "matches", "input_mb"),
    )
    rows = options.rows(10_000_000, 100_000)
    for keys in RATES:
        measure(experiment, rows, options.rows(keys, min(keys, 1_000)), options, compared=keys in COMPARED)
    measure_text(experiment, rows, options.rows(10_000, 1_000), options)
    experiment.save(options)


if __name__ == "__main__":
    main()
