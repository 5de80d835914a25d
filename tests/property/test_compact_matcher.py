"""The compact matcher against a literal simulation of the moves and against runs: every selection, output and window, alternatives,
any cut of the input, with the state saved and loaded in between."""

from __future__ import annotations

from random import Random

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.property.columnar_programs import SELECTIONS, ColumnarSimulation, Drive, Event, columnar_queries, event_lists
from tests.property.drive import engine_output, program_of

from ostinato import reference
from ostinato.algebra.text import to_text
from ostinato.base.errors import UnsupportedError
from ostinato.testing.compare_rows import difference
from ostinato.testing.strategies import run_queries, streams


@settings(max_examples=400, deadline=None)
@given(columnar_queries(), event_lists(), st.lists(st.integers(0, 9), max_size=4), st.booleans(), st.booleans())
def test_partial_matches_make_exactly_the_moves(query, events, cuts, reload, reverse):
    wanted = ColumnarSimulation(query, events).matches()
    drive = Drive(query, events, "compact", reload, reverse)
    found = drive.run([split_statement for split_statement in cuts if split_statement <= len(events)])
    if query.output != "count":
        assert found == wanted
    assert drive.matcher.metrics()["matches"] == len(wanted)


@settings(max_examples=60, deadline=None)
@given(columnar_queries(("all", "first", "nonoverlapping", "count"), SELECTIONS[:3]), st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_as_runs_do_on_longer_streams_of_many_keys(query, seed, step):
    """Beyond what the simulation can do: the state is collected, moved and restored many times."""
    random = Random(seed)
    times = sorted(random.randrange(60) for _ in range(120))
    events = [Event(random.choice((0, 1, 2, 3, 3, 3)), time, random.randrange(8)) for time in times]
    cuts = list(range(step, len(events), step))
    compact, runs = Drive(query, events, "compact", reload=step < 4), Drive(query, events, "runs")
    assert compact.run(cuts) == runs.run(cuts)
    assert compact.matcher.metrics()["matches"] == runs.matcher.metrics()["matches"]


@settings(max_examples=100, deadline=None)
@given(run_queries(), streams(max_size=8), st.lists(st.integers(0, 8), max_size=3), st.booleans())
def test_queries_that_the_planner_gives_to_compact_mean_what_the_reference_says(query, rows, cuts, restarts):
    try:
        assume(program_of(query).body.evaluation == "compact")
    except UnsupportedError:
        assume(False)
    found = engine_output(query, rows, [split_statement for split_statement in cuts if split_statement <= len(rows)], restarts)
    wrong = difference(reference.output(query, rows), found)
    assert not wrong, f"{to_text(query)}\n{wrong}"
