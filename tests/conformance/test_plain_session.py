"""The session that a user has: made by `SparkSession.builder.getOrCreate()`, nothing set, nothing in the environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conformance.plain_session_job import TEXT

import ostinato as ost

pytestmark = [pytest.mark.spark, pytest.mark.timeout(3600)]
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def ticks(folder: Path) -> list[list[Any]]:
    """Writes them, and says what the embedded engine finds. The last one closes all windows."""
    rng = np.random.default_rng(4)
    times = np.append(np.cumsum(rng.integers(1, 3, 200)), 10_000) * 1_000_000
    keys = [*(f"k{n}" for n in rng.integers(0, 4, 200)), "end"]
    table = pa.table({"ts": pa.array(times, pa.timestamp("us", "UTC")), "k": keys, "v": rng.integers(0, 6, 201), "id": range(201)})
    folder.mkdir()
    pq.write_table(table, folder / "0.parquet")
    return sorted([row["k"], row["a"], row["b"]] for row in ost.sql(TEXT, ticks=table).to_arrow().to_pylist())


def run(folder: Path, kind: str) -> dict[str, Any]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK", "PYTHONPATH"))}
    environment["PATH"] = os.defpath  # another Python, if any
    environment["JAVA_TOOL_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # as in conftest; Spark does not see it
    if kind.startswith("connect"):
        environment["PYSPARK_PYTHON"] = sys.executable
    script = Path(__file__).parent / "plain_session_job.py"
    done = subprocess.run(
        [sys.executable, str(script), str(folder), kind], capture_output=True, text=True, env=environment, cwd=folder.parent
    )
    said = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    assert said, done.stdout + done.stderr
    return json.loads(said[0].removeprefix("FOUND "))


@pytest.mark.parametrize("extent", ["few", pytest.param("all", marks=pytest.mark.slow)])
def test_everything_works(tmp_path: Path, extent: str) -> None:
    expected = ticks(tmp_path / "ticks")
    found = run(tmp_path / "ticks", extent)
    assert len(expected) > 20
    for way in ("frame", "path", "stream", "own stream"):
        assert found[way] == expected, way
    assert not found["wrong"], "\n\n".join(found["wrong"])
    assert found["provider"] == ROCKSDB and int(found["partitions"]) <= 8 and found["partitions of batches"] == "200"
    assert re.search(r"hashpartitioning\(.*, 200\)", found["batch plan"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["connect", pytest.param("connect, all", marks=pytest.mark.slow)])
def test_spark_connect(tmp_path: Path, kind: str) -> None:
    """With a server of its own, which PySpark brings; a stream takes the longest."""
    expected = ticks(tmp_path / "ticks")
    found = run(tmp_path / "ticks", kind)
    assert found["session"].startswith("pyspark.sql.connect")
    for way in ("frame", "path", "stream", *(["own stream"] if kind != "connect" else [])):
        assert found[way] == expected, way
