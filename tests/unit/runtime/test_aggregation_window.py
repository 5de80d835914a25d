"""Aggregates over the matches of a sliding window are those over the matches one by one: starts leave the window while others go on."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost

SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("k", pa.string()), ("v", pa.int64())])
PATTERNS = {
    "three in a row": "PATTERN SEQ(A a, B b, C c) WHERE skip_till_any_match(a, b, c) {{ {keys} a.v > 0 }}",
    "a list in between": "PATTERN SEQ(A a, B+ b[ ], C c) WHERE skip_till_any_match(a, b[ ], c) {{ {keys} a.v > 0 }}",
    "four with a list": "PATTERN SEQ(A a, B b, C+ c[ ], A d) WHERE skip_till_any_match(a, b, c[ ], d) {{ {keys} a.v > 0 }}",
}


def rows(count: int = 90) -> pa.Table:
    rng = np.random.default_rng(8)
    columns = [np.arange(count), rng.choice(["A", "B", "C"], count), rng.choice(["x", "y"], count), rng.integers(0, 50, count)]
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def found(text: str, output: str, at_once: int) -> list[dict]:
    session = ost.compile(text, {"e": SCHEMA}, type_by="kind", output=output).open(lateness=0)
    table = rows()
    pushed = [session.push(table.slice(at, at_once)) for at in range(0, table.num_rows, at_once)]
    return [row for part in [*pushed, session.close()] for row in part.to_pylist()]


@pytest.mark.parametrize("window", [9, 14])
@pytest.mark.parametrize("keys", ["", "[k] AND"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_aggregates_of_a_sliding_window(pattern: str, keys: str, window: int) -> None:
    text = f"{PATTERNS[pattern].format(keys=keys)} WITHIN {window}"
    listed = [row["a"]["v"] for row in found(text, "all", 90)]
    wanted = {"n": len(listed), "total": sum(listed), "low": min(listed), "high": max(listed)}
    text += " RETURN count(*) AS n, sum(a.v) AS total, min(a.v) AS low, max(a.v) AS high"
    assert len(listed) > 10
    for at_once in (90, 7):
        assert found(text, "aggregates", at_once) == [wanted]
