"""Programs whose bytes are sound and whose contents are not are refused, or run as a program of ours: no crash, no hang, no other error."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from tests.unit.program.forged_programs import loaded, plain_of
from tests.unit.runtime.forged_sessions import compiled

import ostinato as ost
from ostinato.program import serde
from ostinato.program.verification.verify import verify

ROOT = Path(__file__).parents[3]


def forged_in_a_process_of_its_own(first: int, count: int) -> str:
    """Returns the last line of what it printed; a crash is an error that names the case."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "tests.unit.program.forged_programs", str(first), str(count)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    printed = done.stdout.splitlines() or [""]
    assert done.returncode == 0, f"{printed[-1]} ended with {done.returncode}\n{done.stderr[-3000:]}"
    return printed[-1]


def test_some_forged_programs() -> None:
    told = forged_in_a_process_of_its_own(0, 150)
    assert "refused" in told and "used" in told


@pytest.mark.slow
@pytest.mark.timeout(3600)  # minutes, more of them where others work
@pytest.mark.parametrize("first", range(100_000, 140_000, 10_000))
def test_many_forged_programs(first: int) -> None:
    forged_in_a_process_of_its_own(first, 10_000)


def test_a_number_in_the_place_of_a_string_is_refused() -> None:
    """Strings are compared by their place in a table, where the bits of a float point anywhere."""
    plain = plain_of(compiled("threads").program)
    body = plain["$Program"]["operators"][0]["$Operator"]["body"]
    code = body["$RowPattern"]["scalar"]["$ScalarCode"]
    rank = code["op"].index(36)
    assert code["a"][rank] == 9
    code["a"][rank] = 1
    with pytest.raises(ost.StateError, match="scalar operands of the kind"):
        verify(loaded(plain))


def test_bytes_that_swell_are_refused() -> None:
    bomb = serde.MAGIC + serde.VERSION.to_bytes(2, "big") + zlib.compress(b'"' + b" " * (serde.MOST_BYTES + 1) + b'"')
    with pytest.raises(ost.StateError, match="damaged"):
        serde.loads(bomb)
