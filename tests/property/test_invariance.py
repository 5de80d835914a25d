"""How the input is cut into batches, and whether the session is saved in between, never changes what is found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.property.drive import engine_output

from ostinato.algebra.query import MatchQuery
from ostinato.algebra.text import to_text
from ostinato.base.errors import UnsupportedError
from ostinato.testing.compare_rows import difference
from ostinato.testing.strategies import preferred_queries, run_queries, streams

Rows = list[dict[str, Any]]
some = settings(max_examples=80, deadline=None)
queries = st.one_of(preferred_queries(columnar=True), preferred_queries(columnar=False), run_queries())
cuts = st.lists(st.integers(0, 12), max_size=4)


def in_one_batch(query: MatchQuery, rows: Rows) -> Rows:
    try:
        return engine_output(query, rows)
    except UnsupportedError:
        assume(False)
        raise


def inside(places: list[int], rows: Rows) -> list[int]:
    return [min(place, len(rows)) for place in places]


@some
@given(queries, streams(), cuts)
def test_any_split_into_batches(query: MatchQuery, rows: Rows, places: list[int]) -> None:
    wrong = difference(in_one_batch(query, rows), engine_output(query, rows, inside(places, rows)))
    assert not wrong, f"{to_text(query)}\n{wrong}"


@some
@given(queries, streams(), cuts)
def test_restart_from_a_snapshot_between_batches(query: MatchQuery, rows: Rows, places: list[int]) -> None:
    wrong = difference(in_one_batch(query, rows), engine_output(query, rows, inside(places, rows), restarts=True))
    assert not wrong, f"{to_text(query)}\n{wrong}"


@some
@given(queries, streams(), st.randoms(use_true_random=False))
def test_late_rows_wait_for_their_place(query: MatchQuery, rows: Rows, random: Any) -> None:
    """Rows that come out of order within the allowed lateness; ties keep the order in which they come."""
    places = {row["ts"]: random.random() for row in rows}
    shuffled = sorted(rows, key=lambda row: places[row["ts"]])
    lateness = (rows[-1]["ts"] - rows[0]["ts"] if rows else 0) + 1
    wrong = difference(in_one_batch(query, rows), engine_output(query, shuffled, range(1, len(rows)), lateness=lateness))
    assert not wrong, f"{to_text(query)}\n{wrong}"


def test_kernels_without_the_compiler() -> None:
    """The same comparison with the reference, the kernels being run as plain Python."""
    root = Path(__file__).parents[2]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    command = [sys.executable, "-m", "tests.property.check_without_jit"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "agree" in done.stdout
