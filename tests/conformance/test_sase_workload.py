"""The six queries of the SASE+ paper's workload: the engine counts what the definition counts."""

from __future__ import annotations

import pytest
from benchmarks.sase_workload import ITERATORS, STRATEGIES, compiled, count_matches, stock_events

from ostinato import reference

EVENTS = stock_events(12_000).slice(7_000, 700)
WINDOW = 60


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("iterator", ITERATORS)
def test_counts(strategy: str, iterator: str) -> None:
    query = compiled(strategy, iterator, WINDOW)
    (expected,) = reference.output(query.algebra, EVENTS.to_pylist())
    assert expected["count"] > 0
    for size in (5_000, 97):
        assert count_matches(query, EVENTS.to_batches(max_chunksize=size)) == expected["count"]
