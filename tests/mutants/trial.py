"""A copy of the tree in which tests are run; the working tree is never touched."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPIED = ("src", "tests", "benchmarks", "docs")
LONGER = 4  # times as long as without a mutation: then it is taken to run for ever
PATIENCE = 60
LONGEST_TEST = 60  # seconds: what takes longer in plain Python fails without a mutation, and is left out
_FAILED = re.compile(r"^(?:FAILED|ERROR) ([^\s]+(?: [^-]\S*)*?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Baseline:
    """How long the tests take without a mutation, and those that fail without one: here kernels are run as plain Python."""

    seconds: float
    failing: tuple[str, ...]


class Trial:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in COPIED:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        self._baselines: dict[tuple[str, ...], Baseline] = {}

    def baseline(self, tests: tuple[str, ...]) -> Baseline:
        if tests not in self._baselines:
            began = time.monotonic()
            shown = self._run([*tests, "-rfE"], None)
            self._baselines[tests] = Baseline(time.monotonic() - began, tuple(dict.fromkeys(_FAILED.findall(shown.stdout))))
        return self._baselines[tests]

    def notices(self, module: str, source: bytes, tests: tuple[str, ...]) -> str | None:
        """The test that fails when the module has this source; None if none does."""
        usual = self.baseline(tests)
        path = self.folder / "src" / "ostinato" / module
        own = path.read_bytes()
        path.write_bytes(source)
        try:
            left_out = [f"--deselect={name}" for name in usual.failing]
            finished = self._run([*tests, "-x", "-rfE", *left_out], PATIENCE + LONGER * usual.seconds)
        except subprocess.TimeoutExpired:
            return "it runs for ever"
        finally:
            path.write_bytes(own)
        if finished.returncode == 0:
            return None
        return next(iter(_FAILED.findall(finished.stdout)), finished.stdout[-300:] + finished.stderr[-300:])

    def _run(self, arguments: Sequence[str], seconds: float | None) -> subprocess.CompletedProcess[str]:
        """Kernels stay Python: nothing is compiled for a mutation, and what lies behind the end of an array is an error."""
        path = os.pathsep.join([str(self.folder / "src"), str(self.folder)])
        environment = {**os.environ, "PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        quietly = ["-q", "--tb=no", "-p", "no:cacheprovider", "-W", "ignore"]
        quickly = ["-p", "tests.mutants.few_examples", "--all-combinations", f"--timeout={LONGEST_TEST}"]
        command = [sys.executable, "-m", "pytest", "-m", "not slow and not spark", *quietly, *quickly]
        return subprocess.run(
            [*command, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
