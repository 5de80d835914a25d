"""Many standing queries over one stream: a set that shares what lies before matching, beside as many sessions of their own."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable

import numpy as np
import pyarrow as pa

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Experiment, Options, announce
from benchmarks.one_thread import use_one_thread

SYMBOLS = 200
BATCH = 10_000
SQL = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.ts AS first, LAST(C.ts) AS last
    PATTERN ({pattern}) WITHIN 20000 DEFINE {define})"""
SASE = "PATTERN SEQ({items}) WHERE {strategy} {{ [symbol] and {conditions} }} WITHIN {window} RETURN a.ts AS first, {last}.ts AS last"


def trades(count: int, seed: int = 5) -> pa.Table:
    generator = np.random.default_rng(seed)
    symbols = pa.DictionaryArray.from_arrays(
        pa.array(generator.integers(0, SYMBOLS, count).astype(np.int32)), [f"S{n}" for n in range(SYMBOLS)]
    )
    return pa.table(
        {
            "ts": np.arange(count),
            "symbol": symbols.cast(pa.string()),
            "price": 100 + 5 * generator.standard_normal(count),
            "volume": generator.integers(0, 1000, count),
        }
    )


def rule(number: int) -> str:
    """Of six shapes in turn: rules about one symbol, and rules about rare events of all symbols."""
    symbol, price, volume = f"S{number % SYMBOLS}", 108 + number % 7, 900 + number % 90
    shapes: tuple[Callable[[], str], ...] = (
        lambda: SQL.format(
            pattern="A B+ C", define=f"A AS symbol = '{symbol}' AND price > {price - 4}, B AS price < PREV(price), C AS price > 104"
        ),
        lambda: SQL.format(pattern="A B*? C", define=f"A AS price > {price} AND volume > {volume}, C AS price < A.price - 15"),
        lambda: SASE.format(
            items="ticks a, ticks b, ticks c", strategy="skip_till_next_match(a, b, c)", window=20_000, last="c",
            conditions=f"a.price > {price} and a.volume > {volume} and b.price < a.price - 8 and c.price > b.price + 8",
        ),
        lambda: SASE.format(
            items="ticks a, ticks+ b[], ticks c", strategy="skip_till_next_match(a, b[], c)", window=5_000, last="c",
            conditions=f"a.symbol = '{symbol}' and a.price > {price - 2} and b[i].price > 100 and c.price < 90",
        ),
        lambda: SASE.format(
            items="ticks a, ~(ticks n), ticks c", strategy="skip_till_next_match(a, n, c)", window=10_000, last="c",
            conditions=f"a.price > {price} and n.price < {price - 24} and c.volume > {volume}",
        ),
        lambda: SASE.format(
            items="ticks a, ticks b", strategy="partition_contiguity(a, b)", window=20_000, last="b",
            conditions=f"a.volume > {volume} and b.volume < {number % 50} and a.price > 105",
        ),
    )  # fmt: skip
    return shapes[number % len(shapes)]()


def made(count: int, table: pa.Table) -> ost.QuerySet:
    queries = ost.QuerySet({"ticks": table.schema})
    for number in range(count):
        queries.add(f"rule {number}", rule(number))
    return queries


def together(queries: ost.QuerySet, batches: list[pa.RecordBatch]) -> Callable[[], int]:
    def run() -> int:
        session = queries.open()
        found = [session.push("ticks", batch) for batch in batches]
        return sum(table.num_rows for one in [*found, session.close()] for table in one.values())

    return run


def apart(queries: ost.QuerySet, batches: list[pa.RecordBatch]) -> Callable[[], int]:
    """Every session sees a batch before any sees the next, as they would side by side."""

    def run() -> int:
        sessions = [queries[query].open() for query in queries]
        found = sum(session.push(batch).num_rows for batch in batches for session in sessions)
        return found + sum(session.close().num_rows for session in sessions)

    return run


def memory(run: Callable[[], int]) -> int:
    """The most that Python and NumPy held at a time."""
    tracemalloc.start()
    run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def main() -> None:
    options = harness.options("Sets of queries beside separate sessions")
    use_one_thread()
    warnings.simplefilter("ignore")
    experiment = Experiment(
        "query_sets",
        "Many queries over one stream",
        "Rules of six shapes, SQL and SASE+, about one of 200 symbols or about rare events of all, over one stream in batches of "
        "10,000 rows: *set*: `ost.QuerySet`, one session; *sessions*: a session per query. The rate counts a row once, whatever the "
        "number of queries. Bytes per query are the most that Python and NumPy held at a time over two batches.",
        show=("queries", "times as fast", "set_bytes_per_query", "sessions_bytes_per_query"),
    )
    for count in (1, 10, 100, 1_000) if not options.quick else (1, 10):
        _case(experiment, count, options)
    experiment.save(options)


def _case(experiment: Experiment, count: int, options: Options) -> None:
    table = trades(options.rows(200_000 if count <= 100 else 50_000, 20_000))
    batches = table.to_batches(max_chunksize=BATCH)
    queries = made(count, table)
    few = batches[:2]
    together(queries, few)(), apart(queries, few)()  # what is loaded once is not theirs
    used = {
        "set_bytes_per_query": memory(together(queries, few)) // count,
        "sessions_bytes_per_query": memory(apart(queries, few)) // count,
    }
    announce(f"  {count} queries: {used}")
    case = experiment.case(f"{count:,} queries", rows=table.num_rows, queries=count, **used)
    case.compare({"set": together(queries, batches), "sessions": apart(queries, batches)}, options, same=lambda found: found)
    case.facts["times as fast"] = round(case.ratio("set", "sessions"), 2)
    if count == 100:
        case.target("set", "sessions", at_least=3.0)


if __name__ == "__main__":
    main()
