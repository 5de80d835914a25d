"""Event patterns whose conditions look at one event alone: how their cost grows with the window and with the length of the pattern.

`SEQ(T1 a, ..., Tn x)` under skip till any match over n + 6 types that are equally frequent, a window in events. Partial matches grow with
the power n of the window; the strategy compact does the same work per event whatever their number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import ostinato as ost
from benchmarks import harness, v_rivals
from benchmarks.harness import Case, Experiment, Options
from benchmarks.one_thread import use_one_thread
from benchmarks.peak_memory import peak_memory
from benchmarks.ticks import random_walk

BATCH = 65_536
OTHER_TYPES = 6
WINDOWS = (100, 1_000, 10_000, 100_000, 1_000_000)
LENGTHS = (3, 6, 9, 12)
MOST_RUNS = 20_000  # beyond so many partial matches the strategy runs is left out: the work per event is theirs
MOST_RUN_STEPS = 100_000_000
SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.dictionary(pa.int32(), pa.string()))])


def events(count: int, length: int, completes: bool = True, seed: int = 5) -> pa.Table:
    """Types T1, T2, ...; without the last one of the pattern if it shall never be complete."""
    types = [f"T{number}" for number in range(1, length + OTHER_TYPES + 1)]
    if not completes:
        types[length - 1] = "another"
    codes = np.random.default_rng(seed).integers(0, len(types), count).astype(np.int32)
    kinds = pa.DictionaryArray.from_arrays(codes, pa.array(types))
    return pa.table({"ts": np.arange(count), "kind": kinds}, schema=SCHEMA)


def query(length: int, window: int, output: str, strategy: str = "compact") -> ost.Query:
    names = [f"v{number}" for number in range(1, length + 1)]
    components = ", ".join(f"T{number} {name}" for number, name in enumerate(names, 1))
    returned = "RETURN v1.ts AS began" if output == "all" else ""
    text = f"PATTERN SEQ({components}) WHERE skip_till_any_match({', '.join(names)}) WITHIN {window} events {returned} OUTPUT {output}"
    return ost.compile(text, {"events": SCHEMA}, type_by="kind", strategy=strategy)


def drive(compiled: ost.Query, batches: list[pa.RecordBatch]) -> int:
    """Through a session, batch by batch, as a host would; returns how many matches there are."""
    session = compiled.open()
    for batch in batches:
        session.push(batch)
    session.close()
    return session.metrics()["matches"]


def partial_matches(length: int, window: int) -> float:
    """How many there are on the average: choices of events of the first types, in order, within the window."""
    each = window / (length + OTHER_TYPES)
    total, term = 0.0, 1.0
    for step in range(1, length):
        term *= each / step
        total += term
    return total


def compare_growth(case: Case, length: int, window: int, count: int, options: Options) -> None:
    """A pattern that is never complete, so that nothing but partial matches costs time; and one whose matches are counted."""
    waiting = events(count, length, completes=False).to_batches(max_chunksize=BATCH)
    complete = events(count, length).to_batches(max_chunksize=BATCH)
    never, counted = query(length, window, "all"), query(length, window, "count")
    contenders = {"compact": lambda: drive(never, waiting)}
    if matches_fit(length, window):
        contenders["compact, counting"] = lambda: drive(counted, complete)
    case.compare(contenders, options)
    runs = partial_matches(length, window)
    case.facts["partial matches"] = round(runs)
    if runs > MOST_RUNS:
        return
    part = min(count, max(10 * window, int(MOST_RUN_STEPS / max(runs, 10))))
    table = events(part, length, completes=False).to_batches(max_chunksize=BATCH)
    compiled = query(length, window, "all", "runs")
    drive(compiled, table[:1])
    seconds = [harness.timed(lambda: drive(compiled, table))[0] for _ in range(options.repeats)]
    note = "" if part == count else f"measured on {part:,} events"
    case.record("runs", [each * count / part for each in seconds], note=note)


def matches_fit(length: int, window: int) -> bool:
    """Whether a count of all matches stays far within 64 bits."""
    return partial_matches(length + 1, window) * 10_000_000 < 2**62


def growth(options: Options) -> None:
    experiment = Experiment(
        "compact_windows",
        "Windows and lengths under skip till any match",
        f"`SEQ(T1 a, ..., Tn x)` over n + {OTHER_TYPES} equally frequent types, batches of {BATCH:,} events. Compact and runs follow a "
        "pattern that never completes (its last type does not occur), so that only partial matches cost time; counting is over a stream "
        f"that completes it. Runs are left out where there are more than {MOST_RUNS:,} partial matches at a time on the average, because "
        "every event would touch them all; where they are measured on fewer events, their time is scaled up. Counting is left out where "
        "the number of matches comes near 64 bits.",
        show=("steps", "window", "partial matches"),
    )
    count = options.rows(1_500_000, 20_000)
    for length in LENGTHS:
        for window in WINDOWS:
            case = experiment.case(f"{length} steps, window {window:,}", rows=count, steps=length, window=window)
            compare_growth(case, length, window, count, options)
    experiment.save(options)


def rates(options: Options) -> None:
    """5 M events/s up to 9 steps, 2 M events/s with 12: bars of the project."""
    experiment = Experiment(
        "compact_rates",
        "Columnar event patterns: rates",
        "The same patterns with windows of 100 events (1,000 with 12 steps): never complete, all matches counted, and, where they are few, "
        "all listed. Python's `re` over the V shape on as many rows is the yardstick of the same run.",
        show=("steps", "window", "matches"),
    )
    count = options.rows(1_000_000, 20_000)
    ticks = random_walk(count, 2)
    for length, window, output, completes in (
        (3, 100, "all", False), (6, 100, "all", False), (9, 100, "all", False), (12, 1_000, "all", False),
        (3, 100, "count", True), (6, 100, "count", True), (9, 100, "count", True), (12, 1_000, "count", True),
        (3, 20, "all", True), (6, 50, "all", True),
    ):  # fmt: skip
        label = "counted" if output == "count" else ("listed" if completes else "never complete")
        case = experiment.case(f"{length} steps, window {window:,}, {label}", rows=count, steps=length, window=window)
        batches = events(count, length, completes).to_batches(max_chunksize=BATCH)
        compiled = query(length, window, output)
        case.facts["matches"] = drive(compiled, batches)
        contenders = {"compact": lambda c=compiled, b=batches: drive(c, b), "re, V shape": lambda: v_rivals.by_re(ticks)}
        found = case.compare(contenders, options)
        if not options.quick:
            given = {"length": length, "window": window, "output": output, "completes": completes, "count": count}
            found["compact"].peak_mb = peak_memory("benchmarks.compact_windows:work", **given)[0]
        if label != "listed":
            case.target_rate("compact", at_least=2e6 if length > 9 else 5e6)
    experiment.save(options)


def work(length: int, window: int, output: str, completes: bool, count: int) -> Iterator[None]:
    """For the memory measurement: load, then match."""
    use_one_thread()
    batches = events(count, length, completes).to_batches(max_chunksize=BATCH)
    compiled = query(length, window, output)
    yield
    drive(compiled, batches)


def main() -> None:
    options: Options = harness.options(__doc__ or "")
    use_one_thread()
    growth(options)
    rates(options)


if __name__ == "__main__":
    main()
