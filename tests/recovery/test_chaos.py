"""Streaming jobs that are killed in every micro-batch, at a random moment: now the driver, now a Python worker; and that go on with other
numbers of cores and other settings. They report what an undisturbed job reports, and what the batch does.

`CHAOS_SEED` chooses other moments."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.recovery.chaos_job import QUERIES
from tests.recovery.test_kill_and_restart import committed, kill

import ostinato as ost

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.timeout(3000)]
FILES, ROWS = 5, 60
LONGEST_STEP = 600  # seconds
MOST_STARTS = 40  # a loaded machine can fail to start a worker in time
SEED = int(os.environ.get("CHAOS_SEED", "1"))
SETTINGS = {
    "spark.sql.shuffle.partitions": ("1", "2", "3", "5"),
    "spark.sql.execution.arrow.maxRecordsPerBatch": ("7", "1000", "65536"),
    "spark.sql.session.timeZone": ("UTC", "Asia/Tokyo", "America/New_York"),
}


def rows_of(stream: str) -> pa.Table:
    """In order of time, at times that no other stream has; the last one closes all windows."""
    rng = np.random.default_rng(len(stream))
    count = FILES * ROWS
    seconds = np.append(np.cumsum(rng.integers(1, 3, count)), 100_000)
    last = {"k": "end", "kind": "End", "v": 0}
    columns = {
        "ts": pa.array(seconds * 1_000_000 + len(stream), pa.timestamp("us", "UTC")),
        "k": pa.array([*(f"k{n}" for n in rng.integers(0, 6, count)), last["k"]]),
        "kind": pa.array([*rng.choice(["Low", "High", "Top"], count, p=[0.45, 0.4, 0.15]), last["kind"]]),
        "v": pa.array([*rng.integers(0, 7, count), last["v"]], pa.int32()),
    }
    return pa.table({**columns, "id": pa.array(range(count + 1), pa.int64())})


def land(stream: str, folder: Path) -> None:
    """Rows a little out of order, in files that are taken one after the other."""
    table = rows_of(stream)
    places = np.arange(table.num_rows) + np.random.default_rng(0).integers(0, 3, table.num_rows)
    places[-1] = 2 * table.num_rows
    table = table.take(np.argsort(places, kind="stable"))
    (folder / stream).mkdir(parents=True)
    for number in range(FILES):
        rows = table.slice(number * ROWS) if number == FILES - 1 else table.slice(number * ROWS, ROWS)
        pq.write_table(rows, folder / stream / f"{number}.parquet")
        os.utime(folder / stream / f"{number}.parquet", (1_000_000 + number, 1_000_000 + number))


@contextmanager
def job(folder: Path, query: str, source: str, cores: int, settings: dict[str, str]) -> Iterator[subprocess.Popen]:
    """A job of which nothing is left afterwards."""
    (folder / "started").unlink(missing_ok=True)
    root = Path(__file__).parents[2]
    command = [sys.executable, str(root / "tests/recovery/chaos_job.py"), str(folder), query, source, str(cores), json.dumps(settings)]
    process = subprocess.Popen(command, cwd=root, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        kill(process)


def reached(folder: Path, batches: int, process: subprocess.Popen) -> bool:
    """Waits until the job runs and has done so many micro-batches; False if it ends before."""
    since, seen = time.monotonic(), -1
    while process.poll() is None:
        if (folder / "started").exists() and committed(folder) >= batches:
            return True
        if committed(folder) > seen:
            since, seen = time.monotonic(), committed(folder)
        assert time.monotonic() - since < LONGEST_STEP, f"the job stands still after {seen} micro-batches"
        time.sleep(0.02)
    return False


def within(folder: Path, batch: int, seconds: float) -> None:
    """Waits so long, but not longer than the micro-batch takes."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and committed(folder) <= batch:
        time.sleep(0.02)


def kill_a_worker(process: subprocess.Popen, rng: random.Random) -> None:
    """One of the Python processes that the job's JVM started."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    processes = {
        int(pid): (int(parent), args) for pid, parent, args in (line.split(None, 2) for line in listed.splitlines() if line.strip())
    }
    ours = {process.pid}
    while more := {pid for pid, (parent, _) in processes.items() if parent in ours} - ours:
        ours |= more
    workers = sorted(pid for pid in ours if "pyspark.daemon" in processes.get(pid, (0, ""))[1])
    if workers:
        with suppress(ProcessLookupError):  # it has ended by itself
            os.kill(rng.choice(workers), signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):  # Spark may replace it, or give up
        process.wait(timeout=2)


def undisturbed(folder: Path, query: str, source: str) -> tuple[int, float]:
    """How many micro-batches there are, and how long the first one takes."""
    for _ in range(MOST_STARTS):
        with job(folder, query, source, 2, {}) as process:
            reached(folder, 0, process)
            since = time.monotonic()
            reached(folder, 1, process)
            first = time.monotonic() - since
            if process.wait(timeout=LONGEST_STEP) == 0:
                return committed(folder), first
    raise AssertionError("the job does not run")


def disturbed(folder: Path, query: str, source: str, batches: int, first: float, rng: random.Random) -> list[str]:
    """The job, killed in each of its micro-batches. What was done to it."""
    done: list[str] = []
    target = 0
    while len(done) < MOST_STARTS:
        cores, settings = rng.choice((1, 2)), {name: rng.choice(values) for name, values in SETTINGS.items()}
        with job(folder, query, source, cores, settings) as process:
            if target < batches and reached(folder, target, process):
                within(folder, target, first * rng.random() ** 3)  # later micro-batches take a small part of the first one's time
                victim = rng.choice(("driver", "worker"))
                done.append(f"{victim} in {target}, {committed(folder)} done")
                target += 1
                if victim == "worker":
                    kill_a_worker(process, rng)
                continue  # leaving kills the driver
            done.append(f"ended by itself with {process.wait(timeout=LONGEST_STEP)}")
            if process.returncode == 0:
                return done
    raise AssertionError(f"the job does not come to an end: {done}")


def batch(query: str) -> list[tuple[Any, ...]]:
    text, options, names = QUERIES[query]
    streams = {name: rows_of(name) for name in names}
    found = ost.sql(text, **streams) if query == "V shape" else ost.match(text, **options, **streams)
    return sorted(tuple(row.values()) for row in found.to_arrow().to_pylist())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("source", ["frame", "own source"])
@pytest.mark.parametrize("query", QUERIES)
def test_chaos(spark, tmp_path: Path, query: str, source: str) -> None:
    rng = random.Random(f"{SEED} {query} {source}")
    for run in ("quiet", "killed"):
        for stream in QUERIES[query][2]:
            land(stream, tmp_path / run)
    batches, first = undisturbed(tmp_path / "quiet", query, source)
    done = disturbed(tmp_path / "killed", query, source, batches, first, rng)
    print(f"seed {SEED}, {query}, {source}: {batches} micro-batches, the first took {first:.1f} s; {'; '.join(done)}")
    quiet, killed = (sorted(map(tuple, spark.read.parquet(str(tmp_path / run / "out")).collect())) for run in ("quiet", "killed"))
    expected = batch(query)
    assert len(expected) > 20
    assert quiet == expected
    assert killed == expected, done
    assert sum(" in " in what for what in done) >= FILES
