"""Compressed matches, decoded, are the matches of output `all`, in their order: every strategy, any cut, with and without negation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.property.drive import batches, program_of

import ostinato as ost
from ostinato import reference
from ostinato.algebra.policies import Output, Ties
from ostinato.algebra.query import Definition, MatchQuery
from ostinato.algebra.text import to_text
from ostinato.base.errors import UnsupportedError
from ostinato.plan.classify import classify
from ostinato.runtime.session.session import Session
from ostinato.testing.negations import negated_queries
from ostinato.testing.strategies import run_queries, streams

Rows = list[dict[str, Any]]
some = settings(max_examples=100, deadline=None)
cuts = st.lists(st.integers(0, 9), max_size=3)


def output_of(query: MatchQuery, rows: Rows, places: list[int], restarts: bool, strategy: str | None) -> pa.Table:
    program = program_of(query, strategy=strategy)
    session = Session(program)
    found = []
    for batch in batches(query, rows, [min(place, len(rows)) for place in places]):
        found.append(session.push(batch))
        if restarts:
            session = Session(program, snapshot=session.snapshot())
    return pa.concat_tables([*found, session.close()])


def check(query: MatchQuery, rows: Rows, places: list[int], restarts: bool, strategy: str | None) -> None:
    try:
        wanted = output_of(query, rows, places, restarts, strategy)
        found = ost.decode(output_of(replace(query, output=Output.COMPRESSED), rows, places, restarts, strategy))
    except UnsupportedError:
        assume(False)
    assert found.count() == len(wanted), to_text(query)
    shown = wanted.to_pylist()
    assert list(found) == shown, to_text(query)
    if shown:
        assert found.to_arrow().equals(wanted)
    assert found[1:3] == shown[1:3] and [found[-1 - i] for i in range(len(shown))] == shown[::-1]
    assert len(shown) == len(reference.evaluate(query, rows))


def columnar(query: MatchQuery) -> MatchQuery:
    """With the conditions about one event alone, so that the graph of `compact` is compressed."""
    definitions = []
    for definition in query.definitions:
        kept = [c for c in definition.conditions if all(part.columnar for part in classify(Definition(definition.variable, (c,))))]
        definitions.append(replace(definition, conditions=tuple(kept)))
    return replace(query, definitions=tuple(definitions), ties=Ties.ORDER)


@some
@given(run_queries(outputs=(Output.ALL,)), streams(max_size=9), cuts, st.booleans(), st.sampled_from(["runs", "backtrack"]))
def test_matches_that_runs_find(query: MatchQuery, rows: Rows, places: list[int], restarts: bool, strategy: str) -> None:
    check(query, rows, places, restarts, strategy)


@some
@given(run_queries(outputs=(Output.ALL,)).map(columnar), streams(max_size=9), cuts, st.booleans())
def test_matches_of_the_compact_graph(query: MatchQuery, rows: Rows, places: list[int], restarts: bool) -> None:
    check(query, rows, places, restarts, "compact")


@some
@given(negated_queries(outputs=(Output.ALL,)), streams(max_size=9), cuts, st.booleans())
def test_matches_that_negation_leaves(query: MatchQuery, rows: Rows, places: list[int], restarts: bool) -> None:
    check(query, rows, places, restarts, None)


@pytest.mark.parametrize("strategy", ["compact", "runs"])
def test_a_million_matches_are_a_small_value(strategy: str) -> None:
    """Every subset of twenty events: counted, and read in the middle, without listing them."""
    events = pa.table({"ts": range(21), "kind": ["A"] * 20 + ["B"]})
    text = "PATTERN SEQ(A+ a[ ], B b) WHERE skip_till_any_match(a[ ], b) OUTPUT compressed"
    result = ost.match(text, events=events, type_by="kind", strategy=strategy)
    assert result.to_arrow().nbytes < 4000
    found = ost.decode(result)
    assert len(found) == 2**20 - 1
    assert [event["ts"] for event in found[2**19]["a"]] == list(range(1, 20))
    assert [event["ts"] for event in found[-1]["a"]] == [19]
    assert found.rows(2**20 - 3).__next__()["match_id"] == 2**20 - 2


@pytest.mark.parametrize("strategy", ["compact", "runs"])
def test_a_window_leaves_out_what_is_too_old(strategy: str) -> None:
    """Every event of the second half completes the subsets of the ten before it."""
    events = pa.table({"ts": range(40), "kind": ["A"] * 20 + ["B"] * 20})
    text = "PATTERN SEQ(A+ a[ ], B b) WHERE skip_till_any_match(a[ ], b) WITHIN 10 OUTPUT compressed"
    found = ost.decode(ost.match(text, events=events, type_by="kind", strategy=strategy))
    assert found.count() == sum(2**k - 1 for k in range(11))
    assert all(row["end_ts"] - row["start_ts"] <= 10 for row in found)
