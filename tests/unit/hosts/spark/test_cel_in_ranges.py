"""Results of CEL that begin in one time range, wherever the borders fall: together they are those of one pass. No Spark is needed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.hosts.spark.range_jobs import check, job, ticks

from ostinato.compiler import compile
from ostinato.tasks.division import division_of

TEXTS = {
    "next": "FILTER {DUR <= 9 SECONDS} (FILTER {v > 2} (ticks) NEXT {$2.k = $1.k AND $2.v > $1.v} ticks)",
    "no condition on the first": "FILTER {DUR < 4 SECONDS} (ticks NEXT {$2.v > $1.v} ticks)",
    "fold": "FILTER {DUR < 20 SECONDS} (ticks FOLD {$2.k = $.k, $2.v >= $.v} ticks)",
    "aggregates": """SELECT k, total FROM FILTER {DUR < 15 SECONDS AND total > 9} (
        (SELECT k, v, v AS total FROM ticks) FOLD {$2.k = $.k, $2.v > 0, $.total + $2.v AS total} (SELECT k, v FROM ticks))""",
    "three": """FILTER {DUR < 12 SECONDS} (SELECT low, v_1, v FROM
        (SELECT low, v FROM (SELECT v AS low FROM ticks) NEXT {v > low} ticks) NEXT {$2.v < $1.v} ticks)""",
    "one": "SELECT v FROM FILTER {v > 3} (ticks)",
}


@pytest.mark.parametrize("name", TEXTS)
def test_ranges(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(len(name))
    found = 0
    for seed in range(3):
        borders = sorted({int(b) * 1_000_000 for b in rng.integers(1, 400, 4)})
        found += check(job(TEXTS[name], ticks(400, 4, seed), tmp_path, borders, int(rng.integers(7, 90)), language="cel"))
    assert found > 20


REFUSED = {
    "nothing bounds it": ("ticks NEXT {$2.v > $1.v} ticks", "how long its results last"),
    "a part is bounded": (
        "SELECT v FROM (SELECT v FROM FILTER {DUR < 9 SECONDS} (ticks NEXT {$2.v > $1.v} ticks)) NEXT {$2.v < $1.v} ticks",
        "how long its results last",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_cut(name: str) -> None:
    text, reason = REFUSED[name]
    assert reason in (division_of(compile(text, {"ticks": ticks(1, 1, 1).schema}, language="cel").pattern).not_in_time or "")


def test_events_that_last_are_not_cut() -> None:
    times = pa.timestamp("us", "UTC")
    lasting = pa.schema([("start_ts", times), ("end_ts", times), ("v", pa.int64())])
    query = compile("FILTER {DUR < 9 SECONDS} (x NEXT x)", {"x": lasting}, language="cel")
    assert "last, from before the range" in (division_of(query.pattern).not_in_time or "")
