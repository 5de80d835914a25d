"""The workload of the SASE+ paper (section 6): six queries over a stock ticker, all matches counted.

The template is `SEQ(stock+ a[], stock b) {[symbol], a[1].price % 500 = 0, P, b.volume < 150}` with a window of 500 events of the
partition. P: p1 true, p2 above the price before, p3 above the least so far; s2 partition contiguity, s3 skip till next match."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

import ostinato as ost
from benchmarks import harness, v_rivals
from benchmarks.harness import Case, Experiment, Options
from benchmarks.one_thread import use_one_thread
from benchmarks.peak_memory import peak_memory
from benchmarks.ticks import random_walk

STRATEGIES = {"s2": "partition_contiguity", "s3": "skip_till_next_match"}
ITERATORS = {"p1": "true", "p2": "a[i].price > a[i-1].price", "p3": "a[i].price > min(a[..i-1].price)"}
WINDOW = 500
BATCH = 65_536
# What an early prototype of the interpreter reached at the least, in events per CPU second on an idle core.
PROTOTYPE = {"s2": 9e6, "s3": 4e6}


def stock_events(events: int, rising: float = 0.7, seed: int = 11) -> pa.Table:
    """Two symbols; a price between 1 and 1000 that goes up by one with probability `rising`, else down or nowhere, and turns over at
    the ends of its range (it would stick to the upper end otherwise); a uniform volume between 1 and 1000."""
    generator = np.random.default_rng(seed)
    symbol = generator.integers(1, 3, events)
    steps = generator.choice(np.array([1, -1, 0]), events, p=[rising, (1 - rising) / 2, (1 - rising) / 2])
    price = np.empty(events, np.int64)
    for one in (1, 2):
        price[symbol == one] = (499 + np.cumsum(steps[symbol == one])) % 1000 + 1
    return pa.table({"ts": np.arange(events), "symbol": symbol, "price": price, "volume": generator.integers(1, 1001, events)})


def query_text(strategy: str, iterator: str, window: int = WINDOW) -> str:
    return f"""PATTERN SEQ(Stock+ a[], Stock b)
        WHERE {STRATEGIES[strategy]}(a[], b) {{ [symbol] and a[1].price % 500 = 0 and {ITERATORS[iterator]} and b.volume < 150 }}
        WITHIN {window} events OUTPUT count"""


def compiled(strategy: str, iterator: str, window: int = WINDOW) -> ost.Query:
    return ost.compile(query_text(strategy, iterator, window), schemas={"stock": stock_events(1).schema})


def count_matches(query: ost.Query, batches: list[pa.RecordBatch]) -> int:
    """Through a session, batch by batch, as a host would."""
    session = query.open()
    for batch in batches:
        session.push(batch)
    return int(session.close()["count"][0].as_py())


def workload(events: int) -> Iterator[tuple[str, str, Callable[[], int]]]:
    """The six queries: strategy, iterator, and what runs it once."""
    batches = stock_events(events).to_batches(max_chunksize=BATCH)
    for strategy in STRATEGIES:
        for iterator in ITERATORS:
            query = compiled(strategy, iterator)
            yield strategy, iterator, lambda query=query: count_matches(query, batches)


def work(strategy: str, iterator: str, events: int) -> Iterator[None]:
    """For the memory measurement: load, then match."""
    use_one_thread()
    batches = stock_events(events).to_batches(max_chunksize=BATCH)
    query = compiled(strategy, iterator)
    yield
    count_matches(query, batches)


def measure(case: Case, strategy: str, iterator: str, run: Callable[[], int], ticks: pa.Table, options: Options) -> None:
    case.facts["matches"] = run()
    found = case.compare({"ostinato": run, "re, V shape": lambda: v_rivals.by_re(ticks)}, options)
    if not options.quick:
        found["ostinato"].peak_mb = peak_memory("benchmarks.sase_workload:work", strategy=strategy, iterator=iterator, events=case.rows)[0]
    case.target_rate("ostinato", at_least=PROTOTYPE[strategy])


def main() -> None:
    options = harness.options(__doc__ or "")
    use_one_thread()
    experiment = Experiment(
        "sase_workload",
        "The SASE+ workload",
        f"Six queries of the paper's section 6 through `query.open()` and `push`, batches of {BATCH:,} events, a window of {WINDOW} events "
        "of the symbol, all matches counted. Python's `re` over the V shape on as many rows is the yardstick of the same run.",
        show=("matches",),
    )
    events = options.rows(1_000_000, 20_000)
    ticks = random_walk(events, 2)
    for strategy, iterator, run in workload(events):
        measure(experiment.case(f"{iterator} {strategy}", rows=events), strategy, iterator, run, ticks, options)
    experiment.save(options)


if __name__ == "__main__":
    main()
