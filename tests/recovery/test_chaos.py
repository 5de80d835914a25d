"""Streaming jobs that are killed in every micro-batch, at a random moment of each of its stages: now the driver, now a Python worker;
and that go on with other numbers of cores and other settings. They report what an undisturbed job reports, and what the batch does.

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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.recovery.chaos_job import QUERIES
from tests.recovery.micro_batch import Stage, stage_of
from tests.recovery.test_kill_and_restart import committed, kill

import ostinato as ost

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.timeout(3000)]
FILES, ROWS = 5, 60
LONGEST_STEP = 600  # seconds
MOST_STARTS = 40  # a loaded machine can fail to start a worker in time
MOST_KILLS = 3  # of one micro-batch
SEED = int(os.environ.get("CHAOS_SEED", "1"))
SETTINGS = {
    "spark.sql.shuffle.partitions": ("1", "2", "3", "5"),
    "spark.sql.execution.arrow.maxRecordsPerBatch": ("7", "1000", "65536"),
    "spark.sql.session.timeZone": ("UTC", "Asia/Tokyo", "America/New_York"),
}

AIMS = [
    *(("driver", stage) for stage in (Stage.BEFORE, Stage.PLANNED, Stage.PLANNED, Stage.IN_STATE, Stage.WRITTEN)),
    *(("worker", stage) for stage in (Stage.PLANNED, Stage.PLANNED, Stage.IN_STATE)),
]


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


def land_one_more(stream: str, folder: Path) -> None:
    """A last row, far behind all others. After a restart Spark's watermark stands still until each of several streams has brought a row;
    if a job is killed while the first of them is planned, that one is a file ahead, and has none left for the end."""
    last = rows_of(stream).slice(FILES * ROWS)
    later = pa.array([200_000 * 1_000_000 + len(stream)], pa.timestamp("us", "UTC"))
    pq.write_table(last.set_column(0, "ts", later), folder / stream / f"{FILES}.parquet")


@contextmanager
def job(folder: Path, query: str, source: str, cores: int, settings: dict[str, str]) -> Iterator[subprocess.Popen]:
    """A job of which nothing is left afterwards."""
    (folder / "started").unlink(missing_ok=True)
    (folder / "launched").touch()
    root = Path(__file__).parents[2]
    command = [sys.executable, str(root / "tests/recovery/chaos_job.py"), str(folder), query, source, str(cores), json.dumps(settings)]
    with (folder / "said").open("a") as said:
        process = subprocess.Popen(command, cwd=root, start_new_session=True, stdout=said, stderr=said)
    try:
        yield process
    finally:
        kill(process)


def reached(folder: Path, batch: int, stage: Stage, process: subprocess.Popen) -> bool:
    """Waits until the job runs and a micro-batch has come so far; False if it ends before."""
    since, seen = time.monotonic(), -1
    while process.poll() is None:
        if (folder / "started").exists() and committed(folder) >= batch and stage_of(folder, batch) >= stage:
            return True
        if committed(folder) > seen:
            since, seen = time.monotonic(), committed(folder)
        assert time.monotonic() - since < LONGEST_STEP, f"the job stands still after {seen} micro-batches"
        time.sleep(0.005)
    return False


def within(folder: Path, batch: int, stage: Stage, seconds: float) -> None:
    """Waits so long, but not longer than the micro-batch stays there."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and stage_of(folder, batch) <= stage:
        time.sleep(0.005)


def workers_of(process: subprocess.Popen) -> list[int]:
    """The Python processes that the job's JVM started."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    processes = {
        int(pid): (int(parent), args) for pid, parent, args in (line.split(None, 2) for line in listed.splitlines() if line.strip())
    }
    ours = {process.pid}
    while more := {pid for pid, (parent, _) in processes.items() if parent in ours} - ours:
        ours |= more
    return sorted(pid for pid in ours if "pyspark.daemon" in processes.get(pid, (0, ""))[1])


def kill_a_worker(process: subprocess.Popen, rng: random.Random) -> bool:
    """As soon as there is one; False if the job ends before. Spark may replace it, or give up."""
    while process.poll() is None:
        if workers := workers_of(process):
            with suppress(ProcessLookupError):  # it has ended by itself
                os.kill(rng.choice(workers), signal.SIGKILL)
                return True
    return False


def undisturbed(folder: Path, query: str, source: str) -> tuple[int, float]:
    """How many micro-batches there are, and how long the first one takes."""
    for _ in range(MOST_STARTS):
        with job(folder, query, source, 2, {}) as process:
            reached(folder, 0, Stage.PLANNED, process)
            since = time.monotonic()
            reached(folder, 0, Stage.DONE, process)
            first = time.monotonic() - since
            if process.wait(timeout=LONGEST_STEP) == 0:
                return committed(folder), first
    raise AssertionError(f"the job does not run: {(folder / 'said').read_text()[-3000:]}")


@dataclass
class Kills:
    """What is done to a job. All of `AIMS` are hit, as far as a job has micro-batches enough: some stages are short, and missed."""

    folder: Path
    batches: int
    first: float
    rng: random.Random
    target: int = 0
    times: int = 0
    aims: list[tuple[str, Stage]] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    def next(self, process: subprocess.Popen) -> bool:
        """Kills the driver or a worker, in a micro-batch that was not killed before, or in its repetition; False: there is none left, or
        the job has ended before."""
        if self.target >= self.batches or not reached(self.folder, self.target, Stage.BEFORE, process):
            return False
        victim, stage = self._aim()
        if not reached(self.folder, self.target, stage, process):
            return False
        within(self.folder, self.target, stage, self._longest(stage) * self.rng.random() ** 3)
        if victim == "driver":
            kill(process)
        elif not kill_a_worker(process, self.rng):
            return False
        self._note(victim)
        return True

    def _longest(self, stage: Stage) -> float:
        """Seconds. A job's first micro-batch is planned for most of its time, later ones take a small part of that."""
        return {Stage.BEFORE: 1.0, Stage.PLANNED: self.first, Stage.IN_STATE: 0.2}.get(stage, 0.0)

    def _aim(self) -> tuple[str, Stage]:
        """One that was not hit yet, if it can be: a micro-batch that is run again is planned, or even written, from the beginning."""
        self.aims = self.aims or self.rng.sample(AIMS, len(AIMS))
        now = stage_of(self.folder, self.target)
        return next((aim for aim in self.aims if aim[1] >= now), self.aims[0])

    def _note(self, victim: str) -> None:
        hit = stage_of(self.folder, self.target)
        self.done.append(f"{victim} in {self.target} {hit.name}")
        if (victim, hit) in self.aims:
            self.aims.remove((victim, hit))
        self.times += 1
        if hit is Stage.DONE or self.times == MOST_KILLS or len(self.aims) < self.batches - self.target:
            self.target, self.times = self.target + 1, 0


def disturbed(folder: Path, query: str, source: str, kills: Kills) -> list[str]:
    """The job, killed in each of its micro-batches. What was done to it."""
    rng = kills.rng
    for _ in range(MOST_STARTS):
        cores, settings = rng.choice((1, 2)), {name: rng.choice(values) for name, values in SETTINGS.items()}
        master = {"spark.master": f"local[{cores},{rng.choice((1, 4))}]"}  # a task that fails is run again, or the stream fails
        with job(folder, query, source, cores, settings | master) as process:
            while kills.next(process):
                pass
            if process.poll() != -signal.SIGKILL:
                kills.done.append(f"ended by itself with {process.wait(timeout=LONGEST_STEP)}")
            if process.returncode == 0:
                return kills.done
    raise AssertionError(f"the job does not come to an end: {kills.done}\n{(folder / 'said').read_text()[-3000:]}")


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
    done = disturbed(tmp_path / "killed", query, source, Kills(tmp_path / "killed", batches, first, rng))
    for stream in QUERIES[query][2]:
        land_one_more(stream, tmp_path / "killed")
    undisturbed(tmp_path / "killed", query, source)
    print(f"seed {SEED}, {query}, {source}: {batches} micro-batches, the first took {first:.1f} s; {'; '.join(done)}")
    quiet, killed = (sorted(map(tuple, spark.read.parquet(str(tmp_path / run / "out")).collect())) for run in ("quiet", "killed"))
    expected = batch(query)
    assert len(expected) > 20
    assert quiet == expected
    assert killed == expected, done
    assert sum(" in " in what for what in done) >= FILES
