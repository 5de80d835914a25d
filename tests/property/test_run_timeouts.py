"""OUTPUT timeouts: the runs that their window ended, as the definition says, however the stream is cut, told the time and saved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.drive import batches, plain, program_of

from ostinato import reference
from ostinato.algebra.policies import Output
from ostinato.algebra.query import MatchQuery, Unit, Within
from ostinato.algebra.text import to_text
from ostinato.runtime.session.session import Session
from ostinato.testing.compare_rows import difference
from ostinato.testing.strategies import run_queries, streams

Rows = list[dict[str, Any]]


@st.composite
def queries(draw: st.DrawFn) -> MatchQuery:
    query = draw(run_queries(outputs=(Output.TIMEOUTS,)))
    unit = draw(st.sampled_from((Unit.TIME, Unit.TIME, Unit.EVENTS)))
    return replace(query, within=Within(draw(st.integers(1, 6)), unit))


@settings(max_examples=150, deadline=None)
@given(queries(), streams(max_size=9), st.data())
def test_engine_equals_reference(query: MatchQuery, rows: Rows, data: st.DataObject) -> None:
    program = program_of(query)
    assert program.body.evaluation == "runs"
    session = Session(program)
    found = []
    for batch in batches(query, rows, data.draw(st.lists(st.integers(0, len(rows)), max_size=4))):
        found += session.push(batch).to_pylist()
        if data.draw(st.booleans()):
            session = Session(program, snapshot=session.snapshot())
        if batch.num_rows and data.draw(st.booleans()):
            found += session.advance(max(batch["ts"].to_pylist())).to_pylist()
    found += session.close().to_pylist()
    wrong = difference(reference.output(query, rows), [plain(query, row) for row in found])
    assert not wrong, f"{to_text(query)}\n{wrong}"
