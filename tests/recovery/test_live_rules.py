"""A streaming job that is killed while its rules change, and started again with others: every micro-batch has seen the rules that Spark's
log of offsets says it saw, and no match is lost or told twice."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.recovery.live_rules_job import SCHEMA
from tests.recovery.test_kill_and_restart import kill, wait_for

import ostinato as ost
from ostinato.hosts.spark.streaming.rule_log import RuleLog
from ostinato.tasks.set_change import SetChange

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.timeout(1500)]
FILES, ROWS = 24, 60
KILLED_AFTER = (6, 13)  # micro-batches; those with rules alone are among them


@contextmanager
def job(folder: Path, start: int) -> Iterator[subprocess.Popen]:
    root = Path(__file__).parents[2]
    command = [sys.executable, str(root / "tests/recovery/live_rules_job.py"), str(folder), str(start)]
    process = subprocess.Popen(command, cwd=root, start_new_session=True)
    try:
        yield process
    finally:
        kill(process)


def rows() -> pa.Table:
    generator = np.random.default_rng(4)
    count = FILES * ROWS
    keys = [f"k{n}" for n in generator.integers(0, 5, count)]
    return pa.table({"ts": np.arange(count), "k": keys, "p": generator.integers(0, 10, count).astype(float)}, schema=SCHEMA)


def offsets(folder: Path) -> Iterator[tuple[list[str], int]]:
    """Of each micro-batch, the files that it read, and up to which change it had seen the rules."""
    log = folder / "checkpoint" / "offsets"
    for number in sorted(int(entry.name) for entry in log.iterdir() if entry.name.isdigit()):
        told = [json.loads(line) for line in (log / str(number)).read_text().splitlines()[2:]]
        files = next(offset["files"] for offset in told if "files" in offset)
        yield [name for name, *_ in files], next(offset["change"] for offset in told if "change" in offset)


def read_to_the_end(folder: Path) -> bool:
    """All files, and all changes; the last start of the job makes none while it runs."""
    log = RuleLog(str(folder / "rules"))
    seen = list(offsets(folder))
    return len({name for files, _ in seen for name in files}) == FILES and seen[-1][1] == len(log.after(log.first()))


def expected(folder: Path) -> list[str]:
    """What a session in this process finds, that is told the same changes between the same rows."""
    log = RuleLog(str(folder / "rules"))
    changes = log.after(log.first())
    session, seen, read = ost.QuerySet({"t": SCHEMA}).open(), 0, set()
    found: list[str] = []
    for files, until in offsets(folder):
        for entry in changes[seen:until]:
            change = SetChange.loads(log.change(entry))
            session.change(change.removed, change.added)
        seen = until
        for name in files:
            if name not in read:  # an offset names the files of the last micro-batch that read some
                table = pq.read_table(folder / "in" / name)
                for query, matches in session.push("t", table).items():
                    found += [repr({"query_id": query, **row}) for row in matches.to_pylist()]
        read.update(files)
    assert seen == len(changes) and len(read) == FILES
    return sorted(found)


def test_kill_and_restart(tmp_path: Path, spark) -> None:
    table = rows()
    (tmp_path / "in").mkdir()
    for number in range(FILES):
        pq.write_table(table.slice(number * ROWS, ROWS), tmp_path / "in" / f"{number:03d}.parquet")
    for start, done in enumerate(KILLED_AFTER):
        with job(tmp_path, start) as process:
            wait_for(tmp_path, done, process)
    with job(tmp_path, len(KILLED_AFTER)) as process:
        while not read_to_the_end(tmp_path):
            assert process.poll() is None
            time.sleep(0.1)
        wait_for(tmp_path, len(list(offsets(tmp_path))), process)
    found = spark.read.parquet(str(tmp_path / "out")).drop("query_error").toArrow().to_pylist()
    assert sorted(map(repr, found)) == expected(tmp_path)
    assert len({row["query_id"] for row in found}) > 8
