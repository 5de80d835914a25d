"""The layers hold, and importing the package stays light."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_import_contracts_hold():
    finished = subprocess.run(
        [sys.executable, "-c", "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "0 broken" in finished.stdout


def test_import_loads_neither_pyspark_nor_numba():
    code = "import sys, ostinato; print(sorted({'numba', 'llvmlite', 'pyspark', 'py4j', 'pandas', 'polars'} & set(sys.modules)))"
    finished = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "src", capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "[]"


def test_workers_load_no_compiler():
    """What a Spark worker imports to execute a program stays clear of everything that compiles one."""
    code = (
        "import sys, ostinato.runtime.session.session\n"
        "compile_side = ('ostinato.lang', 'ostinato.plan', 'ostinato.automata', 'ostinato.algebra', 'ostinato.compiler', 'sqlglot')\n"
        "print([name for name in sys.modules if name.startswith(compile_side)])"
    )
    finished = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "src", capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "[]"
