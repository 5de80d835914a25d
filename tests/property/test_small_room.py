"""How much room a table starts with makes no difference: not a match, and not a place beyond its end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.property.check_small_room import disagreements

ONE_OF = [16, pytest.param(4, marks=pytest.mark.slow)]


@pytest.mark.parametrize("one_of", ONE_OF)
def test_tables_that_start_small_give_the_same_matches(one_of: int) -> None:
    found = disagreements(one_of)
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize("one_of", ONE_OF)
def test_nothing_is_written_behind_their_ends(one_of: int) -> None:
    """Compiled kernels do not look; without the compiler NumPy does."""
    root = Path(__file__).parents[2]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    command = [sys.executable, "-W", "ignore", "-m", "tests.property.check_small_room", str(one_of)]
    finished = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert finished.stdout.strip() == "agree", finished.stdout + finished.stderr
