"""Matches of events are shown piece by piece: nobody may see where they were cut, and little is held beside the result."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.runtime.matches import ordered_matches
from ostinato.runtime.output import report

PATTERN = "PATTERN SEQ(a a, b+ b[ ], c c) WHERE skip_till_any_match(a, b[ ], c) { %s } WITHIN %d"
SHOWN = " RETURN a.ts AS a, count(b[ ].v) AS b, c.v AS c"


def events(count: int) -> pa.Table:
    generator = np.random.default_rng(5)
    kinds = np.array(["a", "b", "c"])[generator.integers(0, 3, count)]
    return pa.table({"ts": np.arange(count), "kind": kinds, "v": generator.integers(0, 3, count)})


@pytest.mark.parametrize("condition", ["a.v >= 0", "[v]", "c.v > a.v"])
@pytest.mark.parametrize("shown", ["", SHOWN])
def test_pieces_make_the_same_table(monkeypatch, condition, shown):
    query = PATTERN % (condition, 12) + shown
    whole = ost.match(query, events=events(300), type_by="kind").to_arrow()
    monkeypatch.setattr(report, "SHOWN_AT_ONCE", 7)
    monkeypatch.setattr(ordered_matches, "MOVED_AT_ONCE", 3)
    pieces = ost.match(query, events=events(300), type_by="kind").to_arrow()
    assert pieces.num_rows > 50 and pieces.column(0).num_chunks > 1
    assert pieces.combine_chunks().equals(whole.combine_chunks())


@pytest.mark.parametrize("condition, window", [("a.v >= 0", 40), ("[v]", 120)])
def test_a_listing_takes_twice_its_result_at_most(condition, window):
    query = ost.compile(
        f"PATTERN SEQ(a a, b b, c c) WHERE skip_till_any_match(a, b, c) {{ {condition} }} WITHIN {window}",
        {"events": events(1).schema},
        type_by="kind",
    )
    rows = events(10_000)
    session = query.open()
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    tracemalloc.start()
    try:
        found = pa.concat_tables([session.push(rows), session.close()])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.num_rows > 3 * report.SHOWN_AT_ONCE
    assert peak + pool.bytes_allocated() - before < 2 * found.nbytes
