"""Spark's workers load the execute side alone."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
import ostinato.hosts.spark.batch.read_ranges, ostinato.hosts.spark.batch.sorted_partitions
import ostinato.hosts.spark.streaming.bucket_processor, ostinato.hosts.spark.streaming.match_stream
import ostinato.hosts.spark.streaming.parquet_stream
compile_side = ("lang", "plan", "algebra", "automata", "rewrite", "reference", "compiler", "query")
print([name for name in sys.modules if name.startswith(tuple(f"ostinato.{part}" for part in compile_side))])
"""


def test_what_workers_import_does_not_compile() -> None:
    found = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_what_plans_a_stream_of_files_loads_nothing_that_runs_queries() -> None:
    """Half a dozen processes per stream."""
    script = "import sys, ostinato.hosts.spark.streaming.parquet_stream; print(*{name.split('.')[0] for name in sys.modules}, *sys.modules)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "pyarrow" in found
    assert not {"numba", "duckdb", "ostinato.kernels", "ostinato.tasks", "ostinato.runtime.session"} & set(found)
