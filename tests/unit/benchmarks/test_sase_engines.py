"""What the page says about the engines of the SASE+ experiments."""

from __future__ import annotations

import pytest
from benchmarks.harness import Experiment, Options
from benchmarks.sase_engines import SAME_VOLUME, compare, runner
from benchmarks.sase_experiments import WITHOUT_P1S2
from benchmarks.sase_workload import stock_events

EVENTS = stock_events(6_000)


@pytest.mark.parametrize("query", WITHOUT_P1S2)
def test_backtrack_reads_an_event_where_basic_meets_a_run(query):
    """One follows the tree of runs depth first, the other breadth first; a start is read, too."""
    basic, backtrack = (runner(engine, query, 700, "count", EVENTS)() for engine in ("basic", "backtrack"))
    assert basic.matches == backtrack.matches > 0
    assert backtrack.metrics["rows_read"] == basic.metrics["visited_runs"] + basic.metrics["runs_made"]


def test_runs_that_wait_for_a_value_are_met_and_events_are_read_again():
    case = Experiment("example", "An example", "About it.").case("small", rows=len(EVENTS))
    found = compare(case, SAME_VOLUME, 300, ("basic", "backtrack"), "all", EVENTS, Options(quick=True, repeats=1))
    assert found["basic"].matches == found["backtrack"].matches == case.facts["matches"] > 0
    assert case.facts["runs met"] < 1 < 100 < found["backtrack"].per_event("rows_read")
    assert found["backtrack"].per_event("rows_read_again") > 100
