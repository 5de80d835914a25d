"""A rewritten query means what the query meant: the definition is asked about both."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from ostinato import reference
from ostinato.algebra.policies import Selection
from ostinato.algebra.query import MatchQuery
from ostinato.algebra.text import to_text
from ostinato.rewrite.rules import NEEDED, RULES, rewrite
from ostinato.testing.compare_rows import difference
from ostinato.testing.strategies import preferred_queries, run_queries, streams

Rows = list[dict[str, Any]]
some = settings(max_examples=100, deadline=None)


def check(query: MatchQuery, rows: Rows) -> None:
    names = [name for name, _ in RULES]
    for alone in names:
        rewritten, applied = rewrite(query, tuple(name for name in names if name != alone))
        if applied:
            wrong = difference(reference.output(query, rows), reference.output(rewritten, rows))
            assert not wrong, f"{applied}\n{to_text(query)}\n\n{to_text(rewritten)}\n{wrong}"


@some
@given(run_queries(selections=(Selection.STRICT,)), streams(max_size=9))
def test_strict_contiguity(query: MatchQuery, rows: Rows) -> None:
    check(query, rows)


@some
@given(run_queries(), streams(max_size=9))
def test_runs(query: MatchQuery, rows: Rows) -> None:
    check(query, rows)


@some
@given(preferred_queries(columnar=False), streams(max_size=9))
def test_row_patterns(query: MatchQuery, rows: Rows) -> None:
    check(query, rows)


@pytest.mark.parametrize("name", NEEDED)
def test_needed_rules_exist(name: str) -> None:
    assert name in dict(RULES)
