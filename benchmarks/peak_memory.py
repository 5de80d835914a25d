"""The peak memory of a piece of work, measured in a process of its own."""

from __future__ import annotations

import importlib
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def peak_memory(function: str, **arguments: Any) -> tuple[float, float]:
    """Megabytes resident at the peak of `module:function(**arguments)`, and of its inputs alone.

    The function is a generator function that yields once when its inputs are loaded and then does the work."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "benchmarks.peak_memory", function, json.dumps(arguments)]
    finished = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise RuntimeError(f"{function} failed while its memory was measured:\n{finished.stderr}")
    peak, loaded = json.loads(finished.stdout.splitlines()[-1])
    return peak, loaded


def _high_water_mark() -> float:
    # Not ru_maxrss on Linux: it survives exec, so a child of a large parent would report the parent's peak.
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _measure(function: str, arguments: dict[str, Any]) -> None:
    module, name = function.split(":")
    work = getattr(importlib.import_module(module), name)(**arguments)
    next(work)
    loaded = _high_water_mark()
    for _ in work:
        pass
    print(json.dumps([_high_water_mark(), loaded]))


if __name__ == "__main__":
    _measure(sys.argv[1], json.loads(sys.argv[2]))
