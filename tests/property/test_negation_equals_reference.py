"""The engine finds what negation means, on random queries and streams, however the input is cut, saved or delayed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.property.drive import batches, engine_output, program_of

from ostinato import reference
from ostinato.algebra.policies import Output, Selection
from ostinato.algebra.query import MatchQuery
from ostinato.algebra.text import to_text
from ostinato.base.errors import UnsupportedError
from ostinato.runtime.session.session import Session
from ostinato.testing.compare_rows import difference
from ostinato.testing.negations import negated_queries
from ostinato.testing.strategies import streams

Rows = list[dict[str, Any]]
many = settings(max_examples=60, deadline=None)
some = settings(max_examples=40, deadline=None)
few = settings(max_examples=25, deadline=None)
cuts = st.lists(st.integers(0, 12), max_size=4)


def check(query: MatchQuery, rows: Rows, given_rows: Rows | None = None, **driven: Any) -> None:
    try:
        found = engine_output(query, rows if given_rows is None else given_rows, **driven)
    except UnsupportedError:
        assume(False)
    wrong = difference(reference.output(query, rows), found)
    assert not wrong, f"{to_text(query)}\n{wrong}"


def inside(places: list[int], rows: Rows) -> list[int]:
    return [min(place, len(rows)) for place in places]


@pytest.mark.parametrize("selection", [Selection.STRICT, Selection.PARTITION, Selection.NEXT, Selection.ANY])
@many
@given(st.data())
def test_in_one_batch(selection: Selection, data: st.DataObject) -> None:
    query = data.draw(negated_queries(selections=(selection,)))
    check(query, data.draw(streams(max_size=9 if selection is Selection.ANY else 12)))


@pytest.mark.parametrize("restarts", [False, True])
@some
@given(negated_queries(), streams(max_size=9), cuts)
def test_any_split_into_batches(restarts: bool, query: MatchQuery, rows: Rows, places: list[int]) -> None:
    check(query, rows, cuts=inside(places, rows), restarts=restarts)


@pytest.mark.parametrize("strategy", ["runs", "compact", "backtrack"])
@few
@given(negated_queries(), streams(max_size=8), cuts)
def test_whatever_finds_the_matches(strategy: str, query: MatchQuery, rows: Rows, places: list[int]) -> None:
    check(query, rows, cuts=inside(places, rows), restarts=True, strategy=strategy)


@some
@given(negated_queries(), streams(max_size=9), st.randoms(use_true_random=False))
def test_late_rows_wait_for_their_place(query: MatchQuery, rows: Rows, random: Any) -> None:
    places = {row["ts"]: random.random() for row in rows}
    shuffled = sorted(rows, key=lambda row: places[row["ts"]])
    lateness = (rows[-1]["ts"] - rows[0]["ts"] if rows else 0) + 1
    check(query, rows, shuffled, cuts=range(1, len(rows)), lateness=lateness)


@some
@given(negated_queries(outputs=(Output.ALL, Output.NONOVERLAPPING, Output.FIRST)), streams(max_size=9), cuts)
def test_the_watermark_decides(query: MatchQuery, rows: Rows, places: list[int]) -> None:
    """Matches come out once; what the watermark has decided is part of the whole, and nothing is left to wait for at the end."""
    session = Session(program_of(query), lateness=None)
    found = []
    for batch in batches(query, rows, inside(places, rows)):
        found += session.push(batch).to_pylist()
        if batch.num_rows:
            found += session.advance(batch.column("ts")[0].as_py()).to_pylist()
    if rows:
        found += session.advance(rows[-1]["ts"] + 1000).to_pylist()
        if query.within is not None and query.within.unit.value == "time":
            assert session.metrics().get("waiting_matches", 0) == 0  # none where the matcher carries all negations
    found += session.close().to_pylist()
    assert session.metrics()["matches"] == len(found) == len(reference.evaluate(query, rows)), to_text(query)


@some
@given(negated_queries(outputs=(Output.ALL, Output.NONOVERLAPPING, Output.FIRST)), streams(max_size=9), cuts)
def test_ordered_input_gives_matches_in_order(query: MatchQuery, rows: Rows, places: list[int]) -> None:
    """Also where a match is decided long after one that completes later."""
    session = Session(program_of(query), ordered=True)
    found = [row for batch in batches(query, rows, inside(places, rows)) for row in session.push(batch).to_pylist()]
    found += session.close().to_pylist()
    numbers = {row["bit"]: position for position, row in enumerate(rows)}
    completed = [max(numbers[event["bit"]] for event in events_of(row)) for row in found]
    assert completed == [match.positions[-1] for match in reference.evaluate(query, rows)], to_text(query)
    assert [row["match_id"] for row in found] == list(range(1, len(found) + 1))


def events_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    values = [value for name, value in row.items() if name not in ("match_id", "start_ts", "end_ts")]
    return [event for value in values for event in (value if isinstance(value, list) else [value] if value else [])]
