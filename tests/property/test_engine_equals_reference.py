"""The engine finds what the definition says, on random queries and random streams."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given, settings
from tests.property.drive import engine_output

from ostinato import reference
from ostinato.algebra.policies import Output, Selection
from ostinato.algebra.query import MatchQuery
from ostinato.algebra.text import to_text
from ostinato.base.errors import UnsupportedError
from ostinato.testing.compare_rows import difference
from ostinato.testing.strategies import aggregated_queries, preferred_queries, run_queries, streams

Rows = list[dict[str, Any]]
many = settings(max_examples=150, deadline=None)


def check(query: MatchQuery, rows: Rows, **driven: Any) -> None:
    try:
        found = engine_output(query, rows, **driven)
    except UnsupportedError:
        assume(False)
    wrong = difference(reference.output(query, rows), found)
    assert not wrong, f"{to_text(query)}\n{wrong}"


@many
@given(preferred_queries(columnar=True), streams())
def test_row_patterns_with_columnar_conditions(query: MatchQuery, rows: Rows) -> None:
    check(query, rows)


@many
@given(preferred_queries(columnar=False), streams())
def test_row_patterns_with_dynamic_conditions(query: MatchQuery, rows: Rows) -> None:
    check(query, rows)


@many
@given(run_queries(selections=(Selection.STRICT, Selection.PARTITION)), streams())
def test_contiguity(query: MatchQuery, rows: Rows) -> None:
    check(query, rows)


@many
@given(run_queries(selections=(Selection.NEXT,)), streams())
def test_skip_till_next_match(query: MatchQuery, rows: Rows) -> None:
    check(query, rows)


@many
@given(aggregated_queries(), streams(max_size=9))
def test_aggregates_over_all_matches(query: MatchQuery, rows: Rows) -> None:
    check(query, rows)


@many
@given(run_queries(alternatives=True), streams(max_size=9))
def test_alternatives(query: MatchQuery, rows: Rows) -> None:
    check(query, rows)


@many
@given(run_queries(selections=(Selection.ANY,), outputs=(Output.ALL, Output.COUNT, Output.NONOVERLAPPING)), streams(max_size=9))
def test_skip_till_any_match(query: MatchQuery, rows: Rows) -> None:
    check(query, rows)
