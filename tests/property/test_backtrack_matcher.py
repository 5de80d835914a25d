"""Backtracking against a literal simulation of the moves: every selection, output and window, any cut of the input, any length of the
segments, with the state saved and loaded in between."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.test_run_matcher import A_STAR_B_C, Drive, Event, Query, Simulation, queries, streams

from ostinato.runtime import backtrack_matcher
from ostinato.runtime.backtrack_matcher import BacktrackMatcher


class BacktrackDrive(Drive):
    strategy = BacktrackMatcher


@settings(max_examples=300, deadline=None)
@given(queries(), streams(), st.lists(st.integers(0, 9), max_size=4), st.booleans(), st.booleans(), st.sampled_from([1, 2, 3, 64]))
def test_backtracking_makes_exactly_the_moves(query, events, cuts, reload, reverse, segment):
    wanted = Simulation(query, events).matches()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backtrack_matcher, "SEGMENT", segment)
        drive = BacktrackDrive(query, events, reload, reverse)
        found = drive.run([cut for cut in cuts if cut <= len(events)])
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
