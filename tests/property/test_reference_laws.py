"""Laws that the definition itself has to obey, whatever the query and the stream."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings

from ostinato.algebra.policies import Output, Selection, Skip
from ostinato.algebra.query import MatchQuery
from ostinato.algebra.text import to_text
from ostinato.reference import evaluate, output
from ostinato.testing.strategies import preferred_queries, run_queries, streams

quick = settings(max_examples=60, deadline=None)
Rows = list[dict[str, Any]]


def found(query: MatchQuery, rows: Rows, **changes: Any) -> set[Any]:
    return {match.rows for match in evaluate(replace(query, **changes), rows)}


@quick
@given(run_queries(outputs=(Output.ALL,)), streams(max_size=9))
def test_selections_widen(query: MatchQuery, rows: Rows) -> None:
    """What strict contiguity finds, partition contiguity finds too, and so on to skip till any match."""
    order = (Selection.STRICT, Selection.PARTITION, Selection.NEXT, Selection.ANY)
    results = [found(query, rows, selection=selection) for selection in order]
    for narrow, wide in zip(results, results[1:], strict=False):
        assert narrow <= wide


@quick
@given(run_queries(selections=(Selection.STRICT, Selection.PARTITION, Selection.NEXT), outputs=(Output.ALL,)), streams(max_size=9))
def test_outputs_choose_among_all_matches(query: MatchQuery, rows: Rows) -> None:
    every = found(query, rows)
    first = evaluate(replace(query, output=Output.FIRST), rows)
    assert {match.rows for match in first} <= every
    assert len({match.start for match in first}) == len(first)
    assert found(query, rows, output=Output.NONOVERLAPPING) <= every
    assert output(replace(query, output=Output.COUNT), rows) == [{"count": len(every)}]


@quick
@given(run_queries(outputs=(Output.NONOVERLAPPING,)), streams(max_size=9))
def test_nonoverlapping_matches_of_a_partition_follow_one_another(query: MatchQuery, rows: Rows) -> None:
    ends: dict[Any, int] = {}
    for match in evaluate(query, rows):
        assert match.positions[0] > ends.get(match.key, -1)
        ends[match.key] = match.positions[-1]


@quick
@given(preferred_queries(), streams(max_size=9))
def test_preferred_matches_are_contiguous_and_numbered(query: MatchQuery, rows: Rows) -> None:
    past_last = evaluate(replace(query, skip=Skip.PAST_LAST_ROW), rows)
    for key in {match.key for match in past_last}:
        own = [match for match in past_last if match.key == key]
        assert [match.number for match in own] == list(range(1, len(own) + 1))
        taken = [position for match in own for position in match.positions]
        assert taken == sorted(set(taken))


@quick
@given(preferred_queries())
def test_equal_queries_have_the_same_text(query: MatchQuery) -> None:
    assert to_text(query) == to_text(replace(query))
    assert to_text(query) != to_text(replace(query, stream="others"))
