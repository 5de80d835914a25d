"""A streaming job that is killed in the middle of micro-batches, and started again, loses nothing and reports nothing twice, and
decides its last matches when it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.recovery.stream_job import TEXT

from ostinato.compiler import compile

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.timeout(1500)]
FILES, ROWS = 24, 100
LONGEST_STEP = 300  # seconds
KILLED_AFTER_FILES = (4, 11, 17)  # micro-batches that are done when the process is killed


def ticks() -> pa.Table:
    rng = np.random.default_rng(8)
    columns = {
        "ts": pa.array(np.cumsum(rng.integers(1, 3, FILES * ROWS)) * 1_000_000, pa.timestamp("us", "UTC")),
        "k": pa.array([f"k{n}" for n in rng.integers(0, 7, FILES * ROWS)]),
        "v": pa.array(rng.integers(0, 6, FILES * ROWS), pa.int32()),
    }
    return pa.table(columns)


@contextmanager
def job(folder: Path) -> Iterator[subprocess.Popen]:
    """The streaming job in a process of its own, of which nothing is left afterwards."""
    root = Path(__file__).parents[2]
    command = [sys.executable, str(root / "tests/recovery/stream_job.py"), str(folder)]
    process = subprocess.Popen(command, cwd=root, start_new_session=True)
    try:
        yield process
    finally:
        kill(process)


def committed(folder: Path) -> int:
    log = folder / "checkpoint" / "commits"
    return sum(not entry.name.startswith(".") for entry in log.iterdir()) if log.exists() else 0


def kill(process: subprocess.Popen) -> None:
    """The driver, its JVM and its Python workers, without a word of warning."""
    with suppress(ProcessLookupError):  # it has ended by itself
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for(folder: Path, batches: int, process: subprocess.Popen) -> None:
    """Until so many micro-batches are done. A job that makes no step is a failure of its own, not of the whole test's time."""
    seen, since = committed(folder), time.monotonic()
    while seen < batches:
        assert process.poll() is None, f"the job ended after {seen} micro-batches, before it was killed"
        assert time.monotonic() - since < LONGEST_STEP, f"the job stands still after {seen} micro-batches"
        time.sleep(0.05)
        if committed(folder) > seen:
            seen, since = committed(folder), time.monotonic()


def test_kill_and_restart(tmp_path: Path, spark) -> None:
    table = ticks()
    (tmp_path / "in").mkdir()
    for number in range(FILES):
        pq.write_table(table.slice(number * ROWS, ROWS), tmp_path / "in" / f"{number:03d}.parquet")
    for done in KILLED_AFTER_FILES:
        with job(tmp_path) as process:
            wait_for(tmp_path, done, process)
    assert committed(tmp_path) < FILES
    with job(tmp_path) as process:
        wait_for(tmp_path, FILES, process)
        assert process.wait(timeout=LONGEST_STEP) == 0
    session = compile(TEXT, {"ticks": table.schema}).open(lateness=None)
    expected = pa.concat_tables([session.push(table), session.close()])
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted((row.k, row.n, row.first_ts) for row in found) == sorted(
        (row["k"], row["n"], row["first_ts"].replace(tzinfo=None)) for row in expected.to_pylist()
    )
    assert len(found) > 100
