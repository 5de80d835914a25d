"""Backtracking against a literal simulation of the moves: every selection, output and window, any cut of the input, any length of the
segments, with the state saved and loaded in between."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.property.drive import engine_output
from tests.property.test_run_matcher import A_STAR_B_C, Drive, Event, Query, RunSimulation, queries
from tests.property.test_run_matcher import streams as event_lists

from ostinato import reference
from ostinato.algebra.text import to_text
from ostinato.base.errors import UnsupportedError
from ostinato.runtime.backtrack import backtrack_matcher
from ostinato.runtime.backtrack.backtrack_matcher import BacktrackMatcher
from ostinato.testing.compare_rows import difference
from ostinato.testing.strategies import run_queries, streams


class BacktrackDrive(Drive):
    strategy = BacktrackMatcher


@settings(max_examples=300, deadline=None)
@given(queries(), event_lists(), st.lists(st.integers(0, 9), max_size=4), st.booleans(), st.booleans(), st.sampled_from([1, 2, 3, 64]))
def test_backtracking_makes_exactly_the_moves(query, events, cuts, reload, reverse, segment):
    wanted = RunSimulation(query, events).matches()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backtrack_matcher, "SEGMENT", segment)
        drive = BacktrackDrive(query, events, reload, reverse)
        found = drive.run([split_statement for split_statement in cuts if split_statement <= len(events)])
    assert found == ([] if query.output == "count" else wanted)
    assert drive.matcher.metrics()["matches"] == len(wanted)


@pytest.mark.parametrize(
    ("selection", "output", "wanted"),
    [
        ("skip_till_next_match", "all", ["a1 b1 c1", "a2 c1", "a1 b1 b2 c2", "a2 b2 c2"]),
        ("skip_till_next_match", "first", ["a1 b1 c1", "a2 c1"]),
        ("skip_till_next_match", "nonoverlapping", ["a1 b1 c1"]),
        ("strict_contiguity", "all", ["a2 c1"]),
    ],
)
def test_worked_example(selection, output, wanted):
    names = ["a1", "b1", "a2", "c1", "b2", "c2"]
    events = [Event(0, i, 1 << "abc".index(name[0]), None) for i, name in enumerate(names)]
    found = BacktrackDrive(Query(A_STAR_B_C, selection, output), events).run([2, 3])
    assert [" ".join(names[event] for event, _ in run) for run in found] == wanted


@settings(max_examples=150, deadline=None)
@given(run_queries(), streams(max_size=9), st.lists(st.integers(0, 9), max_size=3), st.booleans())
def test_backtracking_finds_what_the_definition_says(query, rows, cuts, restarts):
    try:
        found = engine_output(query, rows, [min(split_statement, len(rows)) for split_statement in cuts], restarts, strategy="backtrack")
    except UnsupportedError:
        assume(False)
    wrong = difference(reference.output(query, rows), found)
    assert not wrong, f"{to_text(query)}\n{wrong}"
