"""Memory and cost of partial matches: a window of up to a million events with up to a hundred thousand runs alive.

Ten of a hundred events open a request, the others close one with the same number: `SEQ(Open a, Close b)` under skip till any match keeps
every opened request until the window is over, and a closing event finds its own by the value it must equal. The rate has to stay the
same however many runs wait. The paths (`SEQ(Open a, Step+ b[])`, each step from where the last one went) make nodes as well as runs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Experiment, Options
from benchmarks.one_thread import use_one_thread
from benchmarks.peak_memory import peak_memory

BATCH = 65_536
WINDOWS = (1_000, 10_000, 100_000, 1_000_000)
OPENED = 0.1
GIGABYTE = 1024  # in MB
QUERIES = {
    "requests": """PATTERN SEQ(Open a, Close b) WHERE skip_till_any_match(a, b) {{ b.id = a.id and b.cost >= a.cost }}
        WITHIN {window} events RETURN a.id AS id, b.ts AS closed""",
    "paths": """PATTERN SEQ(Open a, Close+ b[]) WHERE skip_till_any_match(a, b[]) {{ b[1].id = a.id and b[i].id = b[i-1].next }}
        WITHIN {window} events RETURN a.id AS id, b.LEN AS steps""",
}


def events_of(count: int, seed: int = 5) -> pa.Table:
    """Numbers from a range ten times the rows, so that an opened request is closed, and a path goes on, now and then."""
    generator = np.random.default_rng(seed)
    kinds = pa.DictionaryArray.from_arrays(pa.array((generator.random(count) >= OPENED).astype(np.int32)), ["Open", "Close"])
    numbers = 10 * count
    return pa.table(
        {
            "ts": np.arange(count),
            "kind": kinds,
            "id": generator.integers(0, numbers, count),
            "next": generator.integers(0, numbers, count),
            "cost": generator.random(count),
        }
    )


def compiled(name: str, window: int) -> ost.Query:
    return ost.compile(QUERIES[name].format(window=window), schemas={"events": events_of(1).schema}, type_by="kind")


def follow(query: ost.Query, batches: list[pa.RecordBatch]) -> dict[str, int]:
    """The counters before the last runs end."""
    session = query.open()
    for batch in batches:
        session.push(batch)
    return session.metrics()


def work(name: str, window: int, events: int) -> Iterator[None]:
    """For the memory measurement: load, then match."""
    use_one_thread()
    batches = events_of(events).to_batches(max_chunksize=BATCH)
    query = compiled(name, window)
    yield
    follow(query, batches)


def measure(experiment: Experiment, name: str, window: int, events: int, options: Options) -> None:
    batches = events_of(events).to_batches(max_chunksize=BATCH)
    query = compiled(name, window)
    case = experiment.case(f"{name}, window {window:,}", rows=events, window=window)
    found = case.compare({"ostinato": lambda: follow(query, batches)}, options)["ostinato"]
    counted = follow(query, batches)
    case.facts.update({
        "runs": counted["peak_runs"],
        "runs met per event": round(counted["visited_runs"] / events, 2),
        "bytes per run": counted["run_bytes"],
        "nodes": counted["match_nodes"],
        "bytes per node": counted["node_bytes"],
    })  # fmt: skip
    if not options.quick:
        peak, loaded = peak_memory("benchmarks.run_memory:work", name=name, window=window, events=events)
        found.peak_mb = peak
        case.facts["MB beyond input"] = round(peak - loaded)
        if window == WINDOWS[-1]:
            case.target_megabytes("ostinato", at_most=GIGABYTE)


def main() -> None:
    options = harness.options(__doc__ or "")
    use_one_thread()
    experiment = Experiment(
        "run_memory",
        "Memory of partial matches",
        "Requests that wait for their answer, and paths that go on, among a growing number of runs. The peak is that of the whole process.",
        show=("runs", "runs met per event", "bytes per run", "nodes", "bytes per node", "MB beyond input"),
    )
    for name in QUERIES:
        for window in WINDOWS[:2] if options.quick else WINDOWS:
            measure(experiment, name, window, options.rows(2_000_000, 20_000), options)
    experiment.save(options)


if __name__ == "__main__":
    main()
