"""What a push of one row costs, and opening a session: the time from an event to its match where events come one by one."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable

import pyarrow as pa

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Experiment, Options
from benchmarks.one_thread import use_one_thread
from benchmarks.ticks import random_walk

KEYS = 10
OPENED = 100  # sessions
SQL = """SELECT * FROM ticks MATCH_RECOGNIZE ({by} ORDER BY ts
    MEASURES FIRST(PEAK.price) AS top, LAST(FALL.price) AS bottom, LAST(RISE.price) AS up
    PATTERN (PEAK FALL+ RISE+) DEFINE FALL AS price < PREV(price), RISE AS price > PREV(price))"""
SASE = """PATTERN SEQ(ticks a, ticks b, ticks c) WHERE skip_till_next_match(a, b, c) {{
    {by} a.volume > 800 and b.price > a.price and c.price < b.price }} WITHIN 200 microseconds RETURN a.price AS a, c.ts AS c"""
QUERIES = {
    "SQL": SQL.format(by=""),
    "SQL, by key": SQL.format(by="PARTITION BY key"),
    "SQL, by text": SQL.format(by="PARTITION BY name"),
    "SASE+": SASE.format(by=""),
    "SASE+, by key": SASE.format(by="[key] and"),
    "SASE+, by text": SASE.format(by="[name] and"),
}


def ticks(count: int) -> pa.Table:
    """A random walk per key, with the key also as a text."""
    table = random_walk(count, KEYS)
    names = pa.array([f"S{key}" for key in table.column("key").to_pylist()])
    return table.append_column("name", names).combine_chunks()


def pushing(query: ost.Query, batches: list[pa.RecordBatch]) -> Callable[[], int]:
    def run() -> int:
        session = query.open(lateness=0)
        found = sum(session.push(batch).num_rows for batch in batches)
        return found + session.close().num_rows

    return run


def calls(run: Callable[[], int]) -> int:
    """Of Python functions, and of others from Python."""
    profile = cProfile.Profile()
    profile.runcall(run)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def measure(experiment: Experiment, name: str, text: str, options: Options) -> None:
    table = ticks(options.rows(2_000, 200))
    (whole,) = table.to_batches()
    single = [whole.slice(row, 1) for row in range(table.num_rows)]
    query = ost.compile(text, {"ticks": table.schema})
    pushing(query, single)()  # what is loaded once
    case = experiment.case(name, rows=table.num_rows)
    contenders = {"one by one": pushing(query, single), "one push": pushing(query, [whole])}
    case.compare(contenders, options, same=lambda found: found)
    case.facts["us per push"] = round(1e6 / case.rate("one by one"), 1)
    case.facts["calls per push"] = calls(contenders["one by one"]) // table.num_rows
    case.target_seconds("one by one", at_most=100e-6 * table.num_rows)
    opening = experiment.case(f"{name}: {OPENED} sessions are opened", rows=OPENED)
    opening.record("open", [harness.timed(lambda: [query.open(lateness=0) for _ in range(OPENED)])[0] for _ in range(3)])
    opening.target_seconds("open", at_most=1e-3 * OPENED)


def main() -> None:
    options = harness.options("Pushes of one row")
    use_one_thread()
    experiment = Experiment(
        "single_rows",
        "Pushes of one row",
        f"Rows of {KEYS} keys, each pushed as an Arrow batch of its own, beside the same rows in one push: V shapes in SQL and a sequence "
        "of three in SASE+, without keys, by an integer and by a text; and sessions that are opened. Time of the processor.",
        show=("us per push", "calls per push"),
    )
    for name, text in QUERIES.items():
        measure(experiment, name, text, options)
    experiment.save(options)


if __name__ == "__main__":
    main()
