"""An endless stream: does memory stay flat? Queries of every kind of state run over a feed that never repeats a key or a text.

`--minutes N` is how long all of them together run (a quarter of a minute each by default); the resident memory of the process is noted
after every batch, and what it is in the last third is compared with the third before."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Case, Experiment, announce

BATCH = 20_000
LIVE_KEYS = 2_000
LATENESS = 20
SHORT = 0.25  # minutes for a query
MAY_GROW = 1.03  # the allocator's breathing
QUERIES: dict[str, tuple[str, ...]] = {  # several texts: each is fed with what the one before returns
    "all matches": ("""PATTERN SEQ(Feed a, Feed+ b[], Feed c) WHERE skip_till_next_match(a, b[], c)
        { [device] and a.level > 0.9 and b[i].level < a.level and c.level > a.level } WITHIN 2000
        RETURN a.device AS device, b.LEN AS n""",),
    "merged runs": ("""PATTERN SEQ(Feed a, Feed+ b[], Feed c) WHERE skip_till_any_match(a, b[], c)
        { a.level > 0.999 and b[i].level > 0.999 and c.level > 0.9999 and c.step > b[b.LEN].step }
        WITHIN 3000 RETURN a.step AS first, c.step AS last""",),
    "join by text": ("""PATTERN SEQ(Feed a, Feed b) WHERE skip_till_any_match(a, b)
        { a.level > 0.5 and b.answers = a.label } WITHIN 20000 RETURN a.label AS label, b.step AS answered""",),
    "count": ("""PATTERN SEQ(Feed a, Feed+ b[], Feed c) WHERE partition_contiguity(a, b[], c)
        { [device] and b[i].level > b[i-1].level and c.level < a.level } WITHIN 2000 OUTPUT count""",),
    "nonoverlapping": ("""PATTERN SEQ(Feed a, Feed b, Feed c) WHERE skip_till_any_match(a, b, c)
        { [device] and b.level > a.level and c.level > b.level } WITHIN 2000 OUTPUT nonoverlapping""",),
    "compact": ("""PATTERN SEQ(Feed a, Feed+ b[], Feed c) WHERE skip_till_any_match(a, b[], c)
        { [device] and a.level > 0.8 and b[i].level between 0.4 and 0.5 and c.level < 0.1 } WITHIN 60000
        RETURN a.label AS first, b.LEN AS n, c.label AS last""",),
    "compact, counted": ("""PATTERN SEQ(Feed a, Feed b, Feed c) WHERE skip_till_any_match(a, b, c)
        { [device] and a.level > 0.8 and b.level between 0.4 and 0.5 and c.level < 0.1 } WITHIN 60000 OUTPUT count""",),
    "compressed": ("""PATTERN SEQ(Feed a, Feed b, Feed c) WHERE skip_till_any_match(a, b, c)
        { [device] and a.level > 0.8 and b.level between 0.4 and 0.5 and c.level < 0.1 } WITHIN 60000 OUTPUT compressed""",),
    "backtracking": ("""PATTERN SEQ(Feed a, Feed+ b[], Feed c) WHERE skip_till_next_match(a, b[], c)
        { [device] and b[1].label > a.label and b[i].level < a.level and c.level > a.level } WITHIN 2000
        RETURN a.device AS device, b.LEN AS n OUTPUT nonoverlapping""",),
    "negation": ("""PATTERN SEQ(Feed a, ~(Feed n), Feed b, ~(Feed z)) WHERE skip_till_next_match(a, n, b, z)
        { [device] and a.level > 0.9 and b.level < 0.1 and n.level > a.level and z.answers = a.label and z.level > b.level }
        WITHIN 20000 RETURN a.label AS first, b.label AS last""",),
    "composition": ("""PATTERN SEQ(Feed a, Feed b) WHERE skip_till_next_match(a, b)
        { [device] and a.level > 0.8 and b.level < a.level - 0.5 } WITHIN 20000
        RETURN Fall(a.device AS device, b.label AS label, a.level - b.level AS depth)""",
        """PATTERN SEQ(Fall f, Fall+ g[]) WHERE skip_till_next_match(f, g[]) { [device] and g[i].depth > f.depth }
        WITHIN 20000 RETURN f.label AS first, g.LEN AS n""",),
}  # fmt: skip
ASKED_FOR = {"backtracking": "backtrack"}  # all others are evaluated as the planner likes


class Chain:
    """Sessions of which each is fed with what the one before returns."""

    def __init__(self, texts: tuple[str, ...], schema: pa.Schema, strategy: str | None = None) -> None:
        self._sessions: list[ost.Session] = []
        stream = "feed"
        for text in texts:
            query = ost.compile(text, schemas={stream: schema}, strategy=strategy)
            self._sessions.append(query.open(lateness=0 if self._sessions else LATENESS))
            schema, stream = query.output_schema, query.composite or "matches"
        self.strategy = query.pattern.evaluation

    def push(self, batch: pa.RecordBatch | pa.Table) -> None:
        for session in self._sessions:
            batch = session.push(batch)

    def counted(self, metric: str) -> int:
        """By all sessions together."""
        return sum(session.metrics().get(metric, 0) for session in self._sessions)

    @property
    def matches(self) -> int:
        """Of the last one."""
        return self._sessions[-1].metrics()["matches"]


def feed(seed: int = 3) -> Iterator[pa.RecordBatch]:
    """Devices come and go, labels are new in every row; some rows come late. A new device every ten rows: idle keys are forgotten from
    65,536 on, which has to happen in every third that is looked at."""
    generator = np.random.default_rng(seed)
    number = 0
    while True:
        step = np.arange(number, number + BATCH)
        device = step // 10 - generator.integers(0, LIVE_KEYS, BATCH)
        earlier = step - generator.integers(1, 5_000, BATCH)
        yield pa.record_batch({
            "ts": step - generator.integers(0, LATENESS, BATCH),
            "step": step,
            "device": texts("device", device),
            "label": texts("request", step),
            "answers": texts("request", earlier),
            "level": generator.random(BATCH),
        })  # fmt: skip
        number += BATCH


def texts(word: str, numbers: np.ndarray) -> pa.Array:
    return pc.binary_join_element_wise(word, pc.cast(pa.array(numbers), pa.string()), " ")


def resident_mb() -> float:
    status = Path("/proc/self/status")
    if not status.exists():
        sys.exit("the soak benchmark reads /proc/self/status, which this system does not have")
    return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if line.startswith("VmRSS:"))


def soak(case: Case, minutes: float) -> None:
    batches = feed()
    first = next(batches)
    chain = Chain(QUERIES[case.name], first.schema, ASKED_FOR.get(case.name))
    chain.push(first)
    memory: list[float] = []
    gc.freeze()  # what is there already need not be looked through after every batch
    start, cpu, rows = time.monotonic(), time.process_time(), 0
    while time.monotonic() - start < 60 * minutes or len(memory) < 9:
        chain.push(next(batches))
        rows += BATCH
        gc.collect()
        pa.default_memory_pool().release_unused()
        memory.append(resident_mb())
    case.rows = rows
    case.record("ostinato", [time.process_time() - cpu], note="the feed's generator included").peak_mb = max(memory)
    third = len(memory) // 3
    before, last = max(memory[third : 2 * third]), max(memory[2 * third :])
    case.facts.update({
        "strategy": chain.strategy,
        "M events": round(rows / 1e6, 2),
        "matches": chain.matches,
        "MB before": round(before),
        "MB at the end": round(last),
        "keys": chain.counted("keys"),
        "rows kept": chain.counted("retained_rows"),
        "runs": chain.counted("runs"),
        "nodes": chain.counted("match_nodes"),
    })  # fmt: skip
    case.target_growth(before, last, at_most=MAY_GROW)


def main() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--minutes", type=float, default=SHORT * len(QUERIES))
    own, rest = parser.parse_known_args()
    options = harness.options((__doc__ or "") + " (--minutes N)", rest)
    minutes = 0.02 if options.quick else own.minutes / len(QUERIES)
    experiment = Experiment(
        "soak", "Endless streams", f"Each query for {minutes:.2g} minutes over a feed whose keys and texts never end; resident memory in "
        "the middle third against the last.",
        show=("strategy", "M events", "matches", "MB before", "MB at the end", "keys", "rows kept", "runs", "nodes"),
    )  # fmt: skip
    for name in QUERIES:
        announce(f"{name} ...")
        soak(experiment.case(name, rows=0), minutes)
    experiment.save(options)


if __name__ == "__main__":
    main()
