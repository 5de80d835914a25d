"""A hundred thousand standing queries over one stream: shapes and indexes over queries, and without them."""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import psutil
import pyarrow as pa

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Experiment, Options, announce
from benchmarks.one_thread import use_one_thread

SYMBOLS = 5_000
BATCH = 50_000
EVENTS = 500_000
SCHEMA = pa.schema([("ts", pa.int64()), ("symbol", pa.string()), ("price", pa.float64()), ("volume", pa.int64())])

SASE = """PATTERN SEQ(ticks a, ticks b) WHERE skip_till_next_match(a, b)
    {{ [symbol] and a.symbol = '{symbol}' and a.price > {price} and b.price < a.price - {drop} }} WITHIN 20000 RETURN a.ts AS first, b.ts AS last"""
SQL = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.ts AS first, C.ts AS last
    PATTERN (A B* C) WITHIN 20000 DEFINE A AS symbol = '{symbol}' AND price > {price}, B AS price <= A.price, C AS price > A.price + {drop})"""
NEEL = """PATTERN SEQ(ticks a, !SEQ(ticks n, n.symbol = a.symbol AND n.volume > {volume}), ticks b,
    a.symbol = b.symbol AND a.symbol = '{symbol}' AND a.price > {price} AND b.price > {upper}) WITHIN 20000 RETURN a.ts AS first, b.ts AS last"""
FILTER = """SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS first PATTERN (A)
    DEFINE A AS symbol = '{symbol}' AND price BETWEEN {price} AND {upper} AND volume > {volume})"""
SHAPES = (SASE, SQL, NEEL, FILTER)


def ticks(count: int, seed: int = 7, first: int = 0, symbols: int = SYMBOLS) -> pa.Table:
    """Symbols are equally frequent; constants of queries are not."""
    generator = np.random.default_rng(seed)
    names = pa.array([f"S{n}" for n in range(symbols)])
    return pa.table(
        {
            "ts": np.arange(first, first + count),
            "symbol": names.take(pa.array(generator.integers(0, symbols, count))),
            "price": np.round(100 + 5 * generator.standard_normal(count), 2),
            "volume": generator.integers(0, 1000, count),
        },
        schema=SCHEMA,
    )


@dataclass
class Rules:
    """Texts of rules: the symbols that they are about are Zipf-distributed, what they look for is rare."""

    seed: int = 11
    shapes: tuple[str, ...] = SHAPES
    _generator: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._generator = np.random.default_rng(self.seed)

    def texts(self, count: int) -> list[str]:
        ranks = np.minimum(self._generator.zipf(1.2, count), SYMBOLS) - 1
        symbols = np.random.default_rng(1).permutation(SYMBOLS)[ranks]
        price = np.round(110 + 3 * self._generator.random(count), 2)
        drop = np.round(8 + 4 * self._generator.random(count), 2)
        volume = 900 + self._generator.integers(0, 99, count)
        return [
            self.shapes[n % len(self.shapes)].format(
                symbol=f"S{symbols[n]}", price=f"{price[n]:.2f}", drop=f"{drop[n]:.2f}", upper=f"{price[n] + 2:.2f}", volume=volume[n]
            )
            for n in range(count)
        ]


def made(texts: list[str], without: tuple[str, ...] = ()) -> ost.QuerySet:
    queries = ost.QuerySet({"ticks": SCHEMA}, without=without)
    for number, text in enumerate(texts):
        queries.add(f"q{number}", text)
    return queries


def pushed(session: Any, batches: list[pa.RecordBatch]) -> int:
    return sum(table.num_rows for batch in batches for table in session.push("ticks", batch).values())


def cpu(work: Callable[[], object]) -> float:
    gc.collect()
    begin = time.process_time()
    work()
    return time.process_time() - begin


def memory() -> int:
    gc.collect()
    return psutil.Process().memory_info().rss


def report(count: int, options: Options, shapes: tuple[str, ...] = SHAPES) -> dict[str, float]:
    """The figures of a set of so many queries, with shapes and indexes."""
    table = ticks(options.rows(EVENTS, 100_000))
    texts = Rules(shapes=shapes).texts(count)
    made(texts[:40]), gc.collect()
    before = memory()
    queries: list[ost.QuerySet] = []
    adding = cpu(lambda: queries.append(made(texts)))
    del texts
    session = queries[0].open()
    batches = table.to_batches(max_chunksize=BATCH)
    found = pushed(session, batches[:1])
    used = memory() - before
    rates, pairs = [], session.metrics()["pairs"]
    spent = cpu(lambda: rates.append(pushed(session, batches[1:])))
    events = table.num_rows - batches[0].num_rows
    unwanted = ticks(options.rows(EVENTS, 100_000), 8, table.num_rows)
    nobody = unwanted.set_column(1, "symbol", pa.array([f"T{n}" for n in range(SYMBOLS)]).take(pa.array(np.arange(len(unwanted)) % SYMBOLS)))
    free = cpu(lambda: pushed(session, nobody.to_batches(max_chunksize=BATCH)))
    change = changed(queries[0], session, ticks(1, 9, 3 * table.num_rows))
    return {
        "queries": count,
        "events_per_second": round(events / spent),
        "pairs_per_event": round((session.metrics()["pairs"] - pairs) / events, 3),
        "matches": found + rates[0],
        "bytes_per_query": round(used / count),
        "add_us": round(1e6 * adding / count, 1),
        "unwanted_per_second": round(len(nobody) / free),
        **change,
    }


def changed(queries: ost.QuerySet, session: Any, row: pa.Table) -> dict[str, float]:
    """The worst of some changes while the set runs, each with the row that comes behind it: what is put off counts."""
    alone = min(cpu(lambda: session.push("ticks", row)) for _ in range(5))
    adds, removes = [], []
    for number, text in enumerate(Rules(seed=5).texts(40)):
        adds.append(cpu(lambda number=number, text=text: (queries.add(f"new{number}", text), session.push("ticks", row))) - alone)
    for number in range(40):
        removes.append(cpu(lambda number=number: (queries.remove(f"new{number}"), session.push("ticks", row))) - alone)
    return {
        "add_ms": round(1e3 * float(np.median(adds)), 2),
        "add_worst_ms": round(1e3 * max(adds), 2),
        "remove_ms": round(1e3 * float(np.median(removes)), 2),
        "remove_worst_ms": round(1e3 * max(removes), 2),
    }


if __name__ == "__main__":
    import sys

    use_one_thread()
    warnings.simplefilter("ignore")
    for count in map(int, sys.argv[1:] or ["1000"]):
        print(report(count, Options()))
