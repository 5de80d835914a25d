"""An endless stream: does memory stay flat? Queries of every kind of state run over a feed that never repeats a key or a text.

`--minutes N` is how long each query runs (a quarter of a minute by default); the resident memory of the process is noted after every
batch, and what it is in the last third is compared with the third before."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Case, Experiment, announce

BATCH = 20_000
LIVE_KEYS = 2_000
SHORT = 0.25  # minutes
MAY_GROW = 1.03  # the allocator's breathing
QUERIES = {
    "all matches": """PATTERN SEQ(Feed a, Feed+ b[], Feed c) WHERE skip_till_next_match(a, b[], c)
        { [device] and a.level > 0.9 and b[i].level < a.level and c.level > a.level } WITHIN 2000 RETURN a.device AS device, b.LEN AS n""",
    "merged runs": """PATTERN SEQ(Feed a, Feed+ b[], Feed c) WHERE skip_till_any_match(a, b[], c)
        { a.level > 0.999 and b[i].level > 0.999 and c.level > 0.9999 and c.step > b[b.LEN].step }
        WITHIN 3000 RETURN a.step AS first, c.step AS last""",
    "join by text": """PATTERN SEQ(Feed a, Feed b) WHERE skip_till_any_match(a, b)
        { a.level > 0.5 and b.answers = a.label } WITHIN 20000 RETURN a.label AS label, b.step AS answered""",
    "count": """PATTERN SEQ(Feed a, Feed+ b[], Feed c) WHERE partition_contiguity(a, b[], c)
        { [device] and b[i].level > b[i-1].level and c.level < a.level } WITHIN 2000 OUTPUT count""",
    "nonoverlapping": """PATTERN SEQ(Feed a, Feed b, Feed c) WHERE skip_till_any_match(a, b, c)
        { [device] and b.level > a.level and c.level > b.level } WITHIN 2000 OUTPUT nonoverlapping""",
}


def feed(seed: int = 3) -> Iterator[pa.RecordBatch]:
    """Devices come and go, labels are new in every row; some rows come late."""
    generator = np.random.default_rng(seed)
    number = 0
    while True:
        step = np.arange(number, number + BATCH)
        device = step // 40 - generator.integers(0, LIVE_KEYS, BATCH)
        earlier = step - generator.integers(1, 5_000, BATCH)
        yield pa.record_batch({
            "ts": step - generator.integers(0, 20, BATCH),
            "step": step,
            "device": pa.array([f"device-{d}" for d in device]),
            "label": pa.array([f"request {s}" for s in step]),
            "answers": pa.array([f"request {s}" for s in earlier]),
            "level": generator.random(BATCH),
        })  # fmt: skip
        number += BATCH


def resident_mb() -> float:
    status = Path("/proc/self/status")
    if not status.exists():
        sys.exit("the soak benchmark reads /proc/self/status, which this system does not have")
    return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if line.startswith("VmRSS:"))


def soak(case: Case, text: str, minutes: float) -> None:
    batches = feed()
    first = next(batches)
    session = ost.compile(text, schemas={"feed": first.schema}).open(lateness=20)
    session.push(first)
    memory: list[float] = []
    start, cpu, rows = time.monotonic(), time.process_time(), 0
    while time.monotonic() - start < 60 * minutes or len(memory) < 9:
        session.push(next(batches))
        rows += BATCH
        gc.collect()
        pa.default_memory_pool().release_unused()
        memory.append(resident_mb())
    case.rows = rows
    case.record("ostinato", [time.process_time() - cpu], note="the feed's generator included").peak_mb = max(memory)
    third = len(memory) // 3
    before, last = max(memory[third : 2 * third]), max(memory[2 * third :])
    counted = session.metrics()
    case.facts.update({
        "MB before": round(before),
        "MB at the end": round(last),
        "keys": counted["keys"],
        "rows kept": counted["retained_rows"],
        "runs": counted.get("runs", 0),
        "nodes": counted.get("match_nodes", 0),
    })  # fmt: skip
    case.target_growth(before, last, at_most=MAY_GROW)


def main() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--minutes", type=float, default=SHORT)
    own, rest = parser.parse_known_args()
    options = harness.options((__doc__ or "") + " (--minutes N)", rest)
    experiment = Experiment(
        "soak", "Endless streams", f"Each query for {own.minutes:g} minutes over a feed whose keys and texts never end; resident memory in "
        "the middle third against the last.", show=("MB before", "MB at the end", "keys", "rows kept", "runs", "nodes"),
    )  # fmt: skip
    for name, text in QUERIES.items():
        announce(f"{name} ...")
        soak(experiment.case(name, rows=0), text, 0.02 if options.quick else own.minutes)
    experiment.save(options)


if __name__ == "__main__":
    main()
