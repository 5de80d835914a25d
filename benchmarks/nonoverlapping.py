"""Non-overlapping output: what the planner picks against backtracking, for windows of 8 to 500 events.

Queries of the SASE+ workload whose conditions compare events; `every` ones start a run with every event, the others with one in five
hundred. What wins where decides whether the planner picks `backtrack` (docs/developer/run-tables.md)."""

from __future__ import annotations

from benchmarks import harness
from benchmarks.harness import Experiment
from benchmarks.one_thread import use_one_thread
from benchmarks.sase_engines import LOUDER_ANY, SAME_VOLUME, compare
from benchmarks.sase_workload import stock_events

QUERIES = ("p3 s3", "p3* s3", "p3 s2 every", "p3* s2 every", "p3 s3 every", "p3* s3 every", LOUDER_ANY, SAME_VOLUME)
WINDOWS = (8, 16, 32, 128, 500)
EVENTS = 50_000


def main() -> None:
    options = harness.options(__doc__ or "")
    use_one_thread()
    experiment = Experiment(
        "nonoverlapping", "Non-overlapping output: runs against backtrack", "What the planner picks (runs, merging) and backtrack, both "
        "with non-overlapping output. `every`: each event starts a run, else one in five hundred does; p3* has a third component that few "
        "runs reach; `louder any` selects under skip till any match, `same volume` joins by value. *Runs met* by the one and *events read* "
        "by the other are per event.", show=("window", "matches", "met", "events read", "read again"),
    )  # fmt: skip
    events = stock_events(options.rows(EVENTS, 4_000))
    for query in QUERIES:
        for window in WINDOWS:
            case = experiment.case(f"{query}, window {window}", rows=len(events), query=query)
            found = compare(case, query, window, ("ostinato", "backtrack"), "nonoverlapping", events, options)
            case.facts["met"] = found["ostinato"].per_event("visited_runs")
            case.facts["events read"] = found["backtrack"].per_event("rows_read")
            case.facts["read again"] = found["backtrack"].per_event("rows_read_again")
    experiment.save(options)


if __name__ == "__main__":
    main()
