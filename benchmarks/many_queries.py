"""A hundred thousand standing queries over one stream: shapes and indexes over queries, and without them."""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import psutil
import pyarrow as pa

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Experiment, announce
from benchmarks.one_thread import use_one_thread

SYMBOLS = 5_000
BATCH = 50_000
EVENTS = 500_000
SCHEMA = pa.schema([("ts", pa.int64()), ("symbol", pa.string()), ("price", pa.float64()), ("volume", pa.int64())])

SASE = """PATTERN SEQ(ticks a, ticks b) WHERE skip_till_next_match(a, b)
    {{ [symbol] and a.symbol = '{symbol}' and a.price > {price} and b.price < a.price - {drop} }}
    WITHIN 20000 RETURN a.ts AS first, b.ts AS last"""
SQL = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.ts AS first, C.ts AS last
    PATTERN (A B* C) WITHIN 20000
    DEFINE A AS symbol = '{symbol}' AND price > {price}, B AS price <= A.price, C AS price > A.price + {drop})"""
NEEL = """PATTERN SEQ(ticks a, !SEQ(ticks n, n.symbol = a.symbol AND n.volume > {volume}), ticks b,
    a.symbol = b.symbol AND a.symbol = '{symbol}' AND a.price > {price} AND b.price > {upper})
    WITHIN 20000 RETURN a.ts AS first, b.ts AS last"""
FILTER = """SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS first PATTERN (A)
    DEFINE A AS symbol = '{symbol}' AND price BETWEEN {price} AND {upper} AND volume > {volume})"""
SHAPES = (SASE, SQL, NEEL, FILTER)


def ticks(count: int, seed: int = 7, first: int = 0, symbols: int = SYMBOLS, skewed: bool = False) -> pa.Table:
    """Symbols are equally frequent, or `skewed` as constants of queries are: then the most frequent are those that most are about."""
    generator = np.random.default_rng(seed)
    names = pa.array([f"S{n}" for n in range(symbols)])
    chosen = zipf_symbols(generator, count, symbols) if skewed else generator.integers(0, symbols, count)
    return pa.table(
        {
            "ts": np.arange(first, first + count),
            "symbol": names.take(pa.array(chosen)),
            "price": np.round(100 + 5 * generator.standard_normal(count), 2),
            "volume": generator.integers(0, 1000, count),
        },
        schema=SCHEMA,
    )


def zipf_symbols(generator: np.random.Generator, count: int, symbols: int = SYMBOLS) -> np.ndarray:
    """Numbers of symbols, few of which are frequent."""
    return np.random.default_rng(1).permutation(symbols)[np.minimum(generator.zipf(1.2, count), symbols) - 1]


@dataclass
class Rules:
    """Texts of rules: the symbols that they are about are Zipf-distributed, what they look for is rare."""

    seed: int = 11
    shapes: tuple[str, ...] = SHAPES
    _generator: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._generator = np.random.default_rng(self.seed)

    def texts(self, count: int) -> list[str]:
        symbols = zipf_symbols(self._generator, count)
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
    begin = time.process_time()
    work()
    return time.process_time() - begin


def memory() -> int:
    gc.collect()
    return psutil.Process().memory_info().rss


@dataclass(frozen=True)
class Part:
    """Sets of each of `counts` queries. Where an event concerns very many of them, batches are smaller: a row is taken for each."""

    name: str
    counts: tuple[int, ...]
    events: int = 2 * BATCH
    batch: int = BATCH
    shapes: tuple[str, ...] = SHAPES
    without: tuple[str, ...] = ()
    skewed: bool = False


def report(part: Part, count: int) -> dict[str, float]:
    """The figures of a set of so many queries; the first batch is not measured."""
    events, shapes = part.events, part.shapes
    table = ticks(events, skewed=part.skewed)
    made(Rules(shapes=shapes).texts(8 * len(shapes)))
    before = memory()
    texts: list[str] = Rules(shapes=shapes).texts(count)
    queries: list[ost.QuerySet] = []
    adding = cpu(lambda: queries.append(made(texts, part.without)))
    texts.clear()
    session = queries[0].open()
    batches = table.to_batches(max_chunksize=part.batch)
    found = pushed(session, batches[:1])
    used = memory() - before
    seen = session.metrics().get("pairs", 0)
    totals: list[int] = []
    spent = cpu(lambda: totals.append(pushed(session, batches[1:])))
    events -= batches[0].num_rows
    later = ticks(max(table.num_rows, 2 * BATCH), 8, table.num_rows)
    strange = pa.array([f"T{n}" for n in range(SYMBOLS)]).take(pa.array(np.arange(len(later)) % SYMBOLS))
    unwanted = later.set_column(1, "symbol", strange).to_batches(max_chunksize=BATCH)
    free = cpu(lambda: pushed(session, unwanted))
    return {
        "queries": count,
        "events_per_second": round(events / spent),
        "pairs_per_event": round((session.metrics().get("pairs", 0) - seen) / events, 3),
        "matches": found + totals[0],
        "bytes_per_query": round(used / count),
        "add_us": round(1e6 * adding / count, 1),
        "unwanted_per_second": round(len(later) / free),
        **changed(queries[0], session, ticks(1, 9, table.num_rows + 2 * later.num_rows), shapes),
    }


def changed(queries: ost.QuerySet, session: Any, row: pa.Table, shapes: tuple[str, ...]) -> dict[str, float]:
    """Changes while the set runs, each with the row that comes behind it, less what such a row takes: what is put off counts."""
    alone = min(cpu(lambda: session.push("ticks", row)) for _ in range(5))
    adds, removes = [], []
    for number, text in enumerate(Rules(seed=5, shapes=shapes).texts(40)):
        adds.append(cpu(lambda number=number, text=text: (queries.add(f"new{number}", text), session.push("ticks", row))) - alone)
    for number in range(40):
        removes.append(cpu(lambda number=number: (queries.remove(f"new{number}"), session.push("ticks", row))) - alone)
    spent = {"add": adds, "remove": removes}
    return {f"{name}_ms": round(1e3 * float(np.median(times)), 2) for name, times in spent.items()} | {
        f"{name}_worst_ms": round(1e3 * max(times), 2) for name, times in spent.items()
    }


SHOWN = (
    "queries",
    "events_per_second",
    "unwanted_per_second",
    "pairs_per_event",
    "bytes_per_query",
    "add_us",
    "add_ms",
    "remove_ms",
    "times as fast",
)
ALL, SKEWED, ALIKE = "shapes and indexes", "events as frequent as rules", "queries of CEL that begin alike"
UNINDEXED, UNSHARED, FILTERS = "shapes without the index", "without shapes", "plain filters"
PARTS = (
    Part(ALL, (1, 10, 100, 1_000, 10_000, 100_000), EVENTS),
    Part(SKEWED, (1_000, 10_000, 100_000), 10_000, 500, skewed=True),
    Part(UNINDEXED, (100, 1_000, 10_000), without=("query_index",)),
    Part(UNSHARED, (1, 10, 100, 1_000), without=("shapes",)),
    Part(FILTERS, (1_000_000,), EVENTS, shapes=(FILTER,)),
)
QUICK = 1_000  # queries
FALL = """(SELECT symbol, price_1 AS high, price FROM (SELECT symbol, price FROM ticks)
    FOLD {$2.symbol = $.symbol, $2.price < $.price} (SELECT symbol, price FROM ticks))"""


def alike(count: int) -> list[str]:
    """Queries of CEL about all symbols, which begin alike: prices that fall, below a limit of its own, and then recover."""
    behind = "NEXT {{$2.other = $1.symbol AND $2.top > $1.high + {rise}}} (SELECT symbol AS other, price AS top FROM ticks)"
    found = []
    for number in range(count):
        recovers = behind.format(rise=1 + number % 7)
        found.append(f"SELECT symbol, high, top FROM FILTER {{DUR > 2000 AND price < {95 - number / 10:.1f}}} ({FALL}) {recovers}")
    return found


def beginnings(experiment: Experiment, options: harness.Options) -> None:
    """With common beginnings followed once, and without."""
    batches = ticks(options.rows(4 * BATCH, BATCH), symbols=500).to_batches(max_chunksize=BATCH // 4)
    for count in (2, 10, 100) if not options.quick else (2, 10):
        texts = alike(count)

        def run(without: tuple[str, ...], texts: list[str] = texts) -> int:
            return pushed(made(texts, without).open(), batches)

        case = experiment.case(f"{ALIKE}: {count} queries", rows=sum(map(len, batches)), queries=count)
        contenders = {"as one": lambda run=run: run(()), "each by itself": lambda run=run: run(("shared_beginnings",))}
        case.compare(contenders, options, same=lambda found: found)
        case.facts["times as fast"] = round(case.ratio("as one", "each by itself"), 2)


def main() -> None:
    options = harness.options("Many standing queries over one stream")
    use_one_thread()
    warnings.simplefilter("ignore")
    experiment = Experiment(
        "many_queries",
        "A hundred thousand queries over one stream",
        f"Rules of four shapes (SASE+, SQL, NEEL and plain filters) about symbols that are Zipf-distributed over {SYMBOLS:,}, over a "
        "stream of trades in which all symbols are equally frequent (or as frequent as the rules about them: then most events concern "
        f"thousands of rules, and batches are of 500), in batches of {BATCH:,}: events per second of CPU time (one thread), "
        "also of events whose symbol no rule is about; pairs of events and queries that the index leaves; memory per query with a session "
        "that runs, and what a query takes to add before it does; the median time to add or remove one while it runs, with the row "
        "behind it. Without shapes only small sets are feasible: what 100,000 queries would take is 100 times what 1,000 take.",
        show=SHOWN,
    )
    for part in PARTS:
        for count in part.counts if not options.quick else (min(part.counts[-1], QUICK),):
            _case(experiment, replace(part, events=min(part.events, 2 * BATCH)) if options.quick else part, count)
    beginnings(experiment, options)
    if not options.quick:
        _bars(experiment)
    experiment.save(options)


def _case(experiment: Experiment, part: Part, count: int) -> None:
    found = report(part, count)
    announce(f"  {part.name}: {found}")
    case = experiment.case(f"{part.name}: {count:,} queries", rows=part.events - part.batch, **found)
    case.record("set", [case.rows / found["events_per_second"]])


def _bars(experiment: Experiment) -> None:
    cases = {case.name: case for case in experiment.cases}
    most, unshared = cases[f"{ALL}: 100,000 queries"], cases[f"{UNSHARED}: 1,000 queries"]
    per_event = 100 * unshared.measurements["set"].best / unshared.rows
    most.record("without shapes", [per_event * most.rows], note="100 times what 1,000 queries take")
    most.target_rate("set", at_least=200_000)
    most.target("set", "without shapes", at_least=100)
    for name, got, met in (
        ("less than 2,000 bytes per query", most.facts["bytes_per_query"], most.facts["bytes_per_query"] < 2_000),
        ("at least 5 M unwanted events/s", most.facts["unwanted_per_second"] / 1e6, most.facts["unwanted_per_second"] >= 5e6),
        ("less than 5 ms to add one", most.facts["add_ms"], most.facts["add_ms"] < 5),
        ("less than 5 ms to remove one", most.facts["remove_ms"], most.facts["remove_ms"] < 5),
    ):
        most.targets.append({"want": name, "got": got, "unit": "", "met": bool(met)})


if __name__ == "__main__":
    main()
