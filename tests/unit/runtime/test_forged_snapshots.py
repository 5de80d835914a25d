"""Snapshots with right checksums and wrong contents are refused, or go on as a session of ours: no crash, no hang, no other error."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from tests.unit.runtime.forged_sessions import QUERIES, compiled, go_on, saved

import ostinato as ost
from ostinato.runtime.snapshots import snapshot

ROOT = Path(__file__).parents[3]


def forged_in_a_process_of_its_own(first: int, count: int) -> str:
    """Returns the last line of what it printed; a crash is an error that names the case."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "tests.unit.runtime.forged_sessions", str(first), str(count)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    printed = done.stdout.splitlines() or [""]
    assert done.returncode == 0, f"{printed[-1]} ended with {done.returncode}\n{done.stderr[-3000:]}"
    return printed[-1]


def test_some_forged_snapshots() -> None:
    told = forged_in_a_process_of_its_own(0, 100)
    assert "refused" in told and "used" in told


@pytest.mark.slow
@pytest.mark.timeout(3600)  # minutes, more of them where others work
@pytest.mark.parametrize("first", range(100_000, 140_000, 10_000))
def test_many_forged_snapshots(first: int) -> None:
    forged_in_a_process_of_its_own(first, 10_000)


@pytest.mark.parametrize("name", QUERIES)
def test_snapshots_of_all_strategies_are_accepted(name: str) -> None:
    query = compiled(name)
    assert {go_on(query, saved(query, lateness, seed)) for lateness, seed in ((0, 5), (4, 6))} == {"used"}


@pytest.mark.parametrize("name", QUERIES)
def test_every_array_is_looked_at(name: str) -> None:
    """None may be left out or be of another type."""
    query = compiled(name)
    scalars, arrays, blobs = snapshot.unpack(query.program, saved(query, 0, 5))
    for array in arrays:
        if ".rows.valid." in array:
            continue  # a column without nulls has none
        without = {other: value for other, value in arrays.items() if other != array}
        for forged in (without, {**without, array: arrays[array].astype(np.float64)}):
            if ".rows.data.column:p" in array and array in forged:
                continue  # is of that type
            with pytest.raises(ost.StateError, match="snapshot is not valid"):
                query.open(snapshot=snapshot.pack(query.program, scalars, forged, blobs))


def test_a_size_out_of_proportion_is_refused() -> None:
    query = compiled("scan")
    data = bytearray(saved(query, 0, 5))
    data[6:14] = (1 << 45).to_bytes(8, "big")
    with pytest.raises(ost.StateError, match="damaged"):
        query.open(snapshot=resealed(data))


def test_bytes_behind_the_checksum_are_of_any_kind() -> None:
    query = compiled("runs")
    data = saved(query, 0, 5)
    generator = random.Random(1)
    for _ in range(30):
        forged = bytearray(data)
        forged[generator.randrange(snapshot.HEAD, len(data))] ^= 1 << generator.randrange(8)
        assert go_on(query, resealed(forged)) in ("refused", "stopped", "used")


def resealed(data: bytearray) -> bytes:
    """With the checksum of what is there now."""
    data[14:18] = zlib.crc32(bytes(data[18:]), zlib.crc32(bytes(data[:14]))).to_bytes(4, "big")
    return bytes(data)
