"""The compact matcher against a literal simulation of the moves and against runs: every selection, output and window, alternatives,
any cut of the input, with the state saved and loaded in between."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.columnar_programs import Drive, Simulation, columnar_queries, event_lists


@settings(max_examples=400, deadline=None)
@given(columnar_queries(), event_lists(), st.lists(st.integers(0, 9), max_size=4), st.booleans(), st.booleans())
def test_partial_matches_make_exactly_the_moves(query, events, cuts, reload, reverse):
    wanted = Simulation(query, events).matches()
    drive = Drive(query, events, "compact", reload, reverse)
    found = drive.run([cut for cut in cuts if cut <= len(events)])
    if query.output != "count":
        assert found == wanted
    assert drive.matcher.metrics()["matches"] == len(wanted)
