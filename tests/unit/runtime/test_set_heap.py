"""A set session over long, ever new strings stays flat: what nothing refers to any more is collected, in every evaluation."""

from __future__ import annotations

import gc

import numpy as np
import psutil
import pyarrow as pa
import pytest
from tests.unit.test_query_set import SCHEMA, SHAPES

import ostinato as ost
from ostinato.runtime.session import idle_keys
from ostinato.runtime.session.graph import StringSweep

REMEMBERING = {
    "join": "PATTERN SEQ(t a, t b) WHERE skip_till_any_match(a, b) { b.kind = a.kind and b.p > a.p } WITHIN 9 RETURN a.kind AS s",
    "shown": "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) { [k] and a.p > 6 and b.p > 8 } WITHIN 9 RETURN b.kind AS s",
    "attempts": "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.kind AS s PATTERN (A B* C) WITHIN 9 "
    "DEFINE A AS p > 7, B AS kind > A.kind, C AS kind < A.kind)",
    "made": "PATTERN SEQ(t a) WHERE skip_till_next_match(a) { UPPER(a.kind) > 'X' } RETURN LOWER(a.kind) AS s",
}  # fmt: skip


def heap_set() -> ost.QuerySet:
    queries = ost.QuerySet({"t": SCHEMA})
    for name in ("tree", "scan", "one key", "runs", "compact", "negation", "trailing", "composed"):
        queries.add(name, SHAPES[name].replace("PATTERN (A B+)", "PATTERN (A B+) WITHIN 9"))
    for name, text in REMEMBERING.items():
        queries.add(name, text)
    return queries


def batch(number: int, rows: int, letters: int) -> pa.Table:
    """Keys and values are new strings all the time."""
    generator = np.random.default_rng(number)
    at = np.arange(number * rows, (number + 1) * rows)
    keys = [f"key {row // 50} " + "k" * letters for row in at]
    kinds = [f"{'xyz'[row % 3]} {row} " + "v" * letters for row in at]
    return pa.table({"ts": at, "k": keys, "p": generator.integers(0, 10, rows).astype(float), "kind": kinds}, schema=SCHEMA)


def held(session) -> int:
    """What strings take, and how many keys and rows there are."""
    return sum(source.pool.bytes + 1000 * source.key_count + 100 * int(source.rows.length.sum()) for source in session.graph.inputs)


def test_what_is_held_does_not_grow(monkeypatch):
    monkeypatch.setattr(idle_keys, "FORGET_FROM", 16)
    session = heap_set().open()
    session.graph.texts = [StringSweep(first=64, first_bytes=1 << 20) for _ in session.graph.inputs]
    sizes = []
    for number in range(36):
        session.push("t", batch(number, 50, 2_000))
        session.advance(50 * (number + 1) - 2)
        sizes.append(held(session))
    assert session.quarantined == {}
    assert max(sizes[18:]) <= 1.2 * max(sizes[6:18]), sizes


@pytest.mark.slow
def test_the_process_does_not_grow():
    """200 MB of letters go through, ten times what may stay."""
    session = heap_set().open()
    process, sizes = psutil.Process(), []
    for number in range(400):
        session.push("t", batch(number, 100, 2_500))
        session.advance(100 * (number + 1) - 2)
        if number % 40 == 39:
            gc.collect()
            pa.default_memory_pool().release_unused()
            sizes.append(process.memory_info().rss)
    assert session.quarantined == {}
    assert max(sizes[5:]) <= max(sizes[2:5]) + (64 << 20), sizes
