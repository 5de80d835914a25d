"""Every benchmark starts and comes to its end: with `--quick`, small inputs and nothing saved."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.run_all import EXPERIMENTS

ROOT = Path(__file__).parents[3]
ON_SPARK = ("many_queries_spark", "spark_batch", "spark_streaming")
COLD = ("first_result",)  # compiles all kernels five times over, in empty caches


def quickly(name: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"benchmarks.{name}", "--quick"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name not in (*ON_SPARK, *COLD)])
def test_it_runs(name: str) -> None:
    finished = quickly(name)
    assert finished.returncode == 0, finished.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("name", ON_SPARK)
def test_it_runs_on_spark(name: str) -> None:
    finished = quickly(name)
    assert finished.returncode == 0, finished.stderr[-2000:]


def test_every_benchmark_is_there() -> None:
    assert {path.stem for path in (ROOT / "benchmarks").glob("*.py")} >= {*EXPERIMENTS}
    assert {*ON_SPARK, *COLD} <= {*EXPERIMENTS}
