"""Patterns of situations in time ranges: what has begun before a range belongs to the one where it began."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.hosts.spark.range_jobs import check, job, ticks

from ostinato.compiler import compile
from ostinato.tasks.division import division_of

RETURNED = "RETURN count(A.*) AS a, avg(B.v) AS b, first(A.v) AS first_a, max(B.k) AS k"
PATTERNS = {
    "overlaps": "DEFINE A AS v > 2, B AS v < 5 PATTERN A overlaps;starts;during;finishes B",
    "before": "DEFINE A AS v = 1, B AS v = 4 PATTERN A before;meets B",
    "trends": "DEFINE A AS v > PREV(v), B AS v <= PREV(v, 2) PATTERN A before;meets;overlaps B",
    "durations": "DEFINE A AS v >= 1 AT LEAST 2 seconds, B AS v < 4 BETWEEN 1 second AND 6 seconds PATTERN A contains;overlaps;before B",
    "three": "DEFINE A AS v > 1, B AS v < 4, C AS v = 3 PATTERN A overlaps;during;contains B AND B before;overlaps;contains C",
}


@pytest.mark.parametrize("latency", ["earliest", "final"])
@pytest.mark.parametrize("partition", ["", "PARTITION BY k"])
@pytest.mark.parametrize("name", PATTERNS)
def test_as_one_pass(name: str, partition: str, latency: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(len(name))
    found = 0
    for seed, seconds in enumerate((3, 20)):
        text = f"FROM ticks {partition} {PATTERNS[name]} WITHIN {seconds} seconds {RETURNED}"
        table = ticks(400, 3, seed)
        borders = sorted({int(b) * 1_000_000 for b in rng.integers(1, 400, 5)})
        found += check(job(text, table, tmp_path, borders, group=int(rng.integers(7, 90)), language="tpstream", latency=latency))
    assert found


def test_a_key_whose_row_before_lies_far_back(tmp_path: Path) -> None:
    """It holds there already, so that what goes on in the range is no situation of its own."""
    rare = pa.table({"ts": pa.array([1, 380, 381, 382, 383], pa.int64()), "k": ["rare"] * 5, "v": [5, 5, 0, 5, 0]})
    often = ticks(300, 3, 7).set_column(0, "ts", pa.array(np.arange(300)))
    table = pa.concat_tables([often, rare]).sort_by("ts")
    text = "FROM ticks PARTITION BY k DEFINE A AS v = 5 PATTERN A WITHIN 400 RETURN first(A.k) AS k"
    assert check(job(text, table, tmp_path, [100, 200, 380], 11, language="tpstream", latency="final")) > 10


def test_given_situations(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    ended = np.sort(rng.integers(5, 300, 200))
    table = pa.table({"ts": ended, "begun": ended - rng.integers(0, 9, 200), "v": rng.integers(0, 3, 200)})
    text = (
        "FROM ticks INTERVAL (begun, ts) DEFINE A AS v = 0, B AS v > 0 PATTERN A overlaps;during;meets B WITHIN 12 RETURN first(A.v) AS v"
    )
    assert check(job(text, table, tmp_path, [50, 51, 120, 200], 13, language="tpstream", time="ts")) > 10


EACH = {
    "two": "DEFINE A AS v > 1 AT MOST 4 seconds, B AS v < 4 BETWEEN 1 second AND 9 seconds",
    "trends": "DEFINE A AS v > PREV(v) AT MOST 2 seconds, B AS v <= PREV(v, 2) AT MOST 3 seconds",
    "one": "DEFINE A AS v >= 1 AT MOST 30 seconds",
}


@pytest.mark.parametrize("partition", ["", "PARTITION BY k"])
@pytest.mark.parametrize("name", EACH)
def test_situations_by_themselves(name: str, partition: str, tmp_path: Path) -> None:
    """Each belongs to the range in which it begins, and ends no later than it may last behind it."""
    rng = np.random.default_rng(len(name))
    found = 0
    for seed in (0, 1):
        text = f"FROM ticks {partition} {EACH[name]} RETURN count(*) AS n, avg(v) AS mean, first(A.v) AS first_a"
        borders = sorted({int(b) * 1_000_000 for b in rng.integers(1, 400, 6)})
        found += check(job(text, ticks(400, 3, seed), tmp_path, borders, group=int(rng.integers(7, 90)), language="tpstream"))
    assert found > 10


def test_given_situations_by_themselves(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    ended = np.sort(rng.integers(5, 300, 200))
    table = pa.table({"ts": ended, "begun": ended - rng.integers(0, 9, 200), "v": rng.integers(0, 3, 200)})
    text = "FROM ticks INTERVAL (begun, ts) DEFINE A AS v = 0 AT MOST 6, B AS v > 0 AT MOST 7 RETURN max(v) AS v"
    assert check(job(text, table, tmp_path, [50, 51, 120, 200], 13, language="tpstream", time="ts")) > 10


def test_situations_that_may_last_for_any_time() -> None:
    text = "FROM ticks DEFINE A AS v > 2 AT MOST 3 seconds, B AS v < 2 AT LEAST 2 seconds"
    pattern = compile(text, {"ticks": ticks(1, 1, 0).schema}, language="tpstream").pattern
    assert "an upper bound (AT MOST)" in (division_of(pattern).not_in_time or "")


def test_without_a_window() -> None:
    text = "FROM ticks DEFINE A AS v > 2, B AS v < 2 PATTERN A meets B"
    with pytest.warns(UserWarning):
        pattern = compile(text, {"ticks": ticks(1, 1, 0).schema}, language="tpstream").pattern
    assert "WITHIN" in (division_of(pattern).not_in_time or "")
