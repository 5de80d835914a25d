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
