"""The queries of the SASE+ paper's experiments (section 6), the engines that they compare, and one pass of a query over a stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

import ostinato as ost
from benchmarks.harness import Case, Options
from benchmarks.sase_workload import BATCH, ITERATORS, STRATEGIES, stock_events

ENGINES: dict[str, dict[str, object]] = {
    "basic": {"strategy": "runs", "without": ("merging", "search")},
    "merging": {"strategy": "runs", "without": ("search",)},
    "backtrack": {"strategy": "backtrack"},
    "ostinato": {},
}
SAME_VOLUME, LOUDER_ANY = "same volume", "louder any"
OWN_QUERIES = {  # none of the paper's
    SAME_VOLUME: """PATTERN SEQ(Stock a, Stock b) WHERE skip_till_next_match(a, b) {{ [symbol] and b.volume = a.volume }}
        WITHIN {window} events RETURN 2 AS length, a.ts AS first, b.ts AS last OUTPUT {output}""",
    LOUDER_ANY: """PATTERN SEQ(Stock a, Stock b, Stock c) WHERE skip_till_any_match(a, b, c)
        {{ [symbol] and b.price > a.price + 2 and c.volume > a.volume + b.volume + 700 }}
        WITHIN {window} events RETURN 3 AS length, a.ts AS first, c.ts AS last OUTPUT {output}""",
}


@dataclass(frozen=True)
class Found:
    """What a pass over the stream found; `positions` is the paper's output complexity, the lengths of all matches together."""

    matches: int
    positions: int
    events: int
    metrics: dict[str, int]

    def per_event(self, metric: str) -> float:
        """A strategy that does not know the metric has none of it."""
        return round(self.metrics.get(metric, 0) / self.events, 3)

    @property
    def length(self) -> float:
        return self.positions / self.matches if self.matches else 0.0

    @property
    def runs_merged(self) -> float:
        """In percent of those made."""
        made = self.metrics.get("runs_made", 0)
        return round(100 * self.metrics.get("merged_runs", 0) / made, 1) if made else 0.0


def query_text(query: str, window: int, output: str) -> str:
    """`p3* s3` has the paper's third component; `p3 s3 every` leaves out its condition on the first event, so that every event starts."""
    if query in OWN_QUERIES:
        return OWN_QUERIES[query].format(window=window, output=output)
    iterator, strategy, *every = query.split()
    start = "" if every else "a[1].price % 500 = 0 and "
    third = iterator.endswith("*")
    components = "Stock+ a[], Stock b, Stock c" if third else "Stock+ a[], Stock b"
    conditions = f"[symbol] and {start}{ITERATORS[iterator.rstrip('*')]} and b.volume < 150"
    conditions += " and c.price > a[1].price and c.price < a[a.LEN].price" if third else ""
    returned = "" if output == "compressed" else f"RETURN a.LEN + {2 if third else 1} AS length, a[1].ts AS first, b.ts AS last"
    return f"""PATTERN SEQ({components})
        WHERE {STRATEGIES[strategy]}(a[], b{", c" if third else ""}) {{ {conditions} }} WITHIN {window} events
        {returned}
        OUTPUT {output}"""


def runner(engine: str, query: str, window: int, output: str, events: pa.Table) -> Callable[[], Found]:
    compiled = ost.compile(query_text(query, window, output), schemas={"stock": events.schema}, **ENGINES[engine])
    batches = events.to_batches(max_chunksize=BATCH)

    def run() -> Found:
        session = compiled.open()
        matches = positions = 0
        for table in (*(session.push(batch) for batch in batches), session.close()):
            if output == "compressed":  # one graph; how many matches it holds is not looked at
                continue
            if output == "count":
                matches += table["count"][0].as_py() if table.num_rows else 0
                continue
            matches += table.num_rows
            positions += pc.sum(table["length"]).as_py() or 0
        return Found(matches, positions, events.num_rows, session.metrics())

    return run


def stream(window: int, options: Options) -> pa.Table:
    """As in the paper 200 windows of each of the two symbols."""
    return stock_events(options.rows(400 * window, 4_000))


def compare(
    case: Case, query: str, window: int, engines: tuple[str, ...], output: str, events: pa.Table, options: Options
) -> dict[str, Found]:
    """Warm-up and repeats of all engines in turn; what each of them found."""
    found: dict[str, Found] = {}
    runs = {engine: runner(engine, query, window, output, events) for engine in engines}

    def keeping(engine: str) -> Callable[[], Found]:
        def run() -> Found:
            found[engine] = runs[engine]()
            return found[engine]

        return run

    case.compare({engine: keeping(engine) for engine in engines}, options, same=lambda result: (result.matches, result.positions))
    first = found[engines[0]]
    case.facts.update(window=window, matches=first.matches)
    if output not in ("count", "compressed"):
        case.facts.update(length=round(first.length, 1), complexity=first.positions)
    if "basic" in found:
        case.facts["runs met"] = found["basic"].per_event("visited_runs")
    return found
