"""All benchmarks, each in a process of its own, then the results page. `python -m benchmarks.run_all [--quick]`."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from benchmarks import report
from benchmarks.harness import announce

EXPERIMENTS = (
    "v_shape", "sase_workload", "sase_experiments", "nonoverlapping", "compact_windows", "negation", "nested", "cel", "surgical_tools",
    "tpstream", "tpstream_patterns", "tpstream_latency", "tpstream_orders", "tpstream_joins", "tpstream_rate",
    "tpstream_result_latency", "tpstream_parallel", "tpstream_tuning",
    "run_memory", "input_memory", "listing_memory", "soak", "first_result", "growth", "threshold", "single_rows",
    "query_sets", "many_queries", "many_queries_spark", "spark_batch", "spark_streaming",
)  # fmt: skip


def main() -> None:
    failed = []
    for name in EXPERIMENTS:
        if find_spec(f"benchmarks.{name}") is None:
            failed.append(name)
            announce(f"{name} is missing")
            continue
        announce(f"{name} ...")
        command = [sys.executable, "-m", f"benchmarks.{name}", *sys.argv[1:]]
        if subprocess.run(command, cwd=Path(__file__).parent.parent, check=False).returncode:
            failed.append(name)
    if "--quick" not in sys.argv:
        report.main()
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
