"""The layers hold, and importing the package stays light."""

from __future__ import annotations

import ast
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


def test_a_first_query_compiles_no_kernels_of_other_evaluations():
    """What a process has loaded it compiles at its first use ever: nested patterns alone would take longer than all that a query needs."""
    code = (
        "import pyarrow as pa, ostinato as ost\n"
        "from ostinato.kernels import _jit\n"
        "from ostinato.runtime.session.session import Session\n"
        "schema = pa.schema([('key', pa.string()), ('ts', pa.int64()), ('price', pa.float64())])\n"
        "clause = 'PARTITION BY key ORDER BY ts PATTERN (A B+) DEFINE B AS price < PREV(price)'\n"
        "def compiled(text):\n"
        "    Session(ost.compile(text, {'t': schema}).program)\n"
        "    return sorted({one.py_func.__module__.split('.')[2] for one, _ in _jit._registered})\n"
        "print(compiled(f'SELECT * FROM t MATCH_RECOGNIZE ({clause})'))\n"
        "print(compiled('PATTERN SEQ(T a, T b) WHERE b.price > a.price WITHIN 10'))"
    )
    finished = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "src", capture_output=True, text=True, check=True)
    scan, runs = map(ast.literal_eval, finished.stdout.splitlines())
    assert scan == ["negation", "output", "rows", "scan"]
    assert runs == ["matches", "negation", "output", "rows", "runs", "scan"]
