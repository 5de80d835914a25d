"""What the figures were measured on: processor, cores, versions. Nothing that identifies a machine."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

PACKAGES = ("ostinato", "numpy", "numba", "pyarrow", "duckdb", "pyspark")


def describe_machine() -> dict[str, str]:
    described = {"processor": _processor(), "cores": str(os.cpu_count()), "system": platform.system(), "python": platform.python_version()}
    for package in PACKAGES:
        try:
            described[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            described[package] = "not installed"
    return described


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
