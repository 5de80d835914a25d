"""Keys are forgotten and come back, and nothing else changes: sessions that forget as early as they can find what the definition says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.property.drive import batches, program_of

from ostinato import reference
from ostinato.algebra.query import MatchQuery, Measure
from ostinato.algebra.text import to_text
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Aggregate, MatchNumber
from ostinato.expr.typing.infer import infer
from ostinato.runtime.session import idle_keys
from ostinato.runtime.session.session import Session
from ostinato.testing.compare_rows import difference
from ostinato.testing.strategies import preferred_queries, streams

Rows = list[dict[str, Any]]
many = settings(max_examples=60, deadline=None)


def forgetful(query: MatchQuery, rows: Rows, restarts: bool) -> Rows:
    """Row by row; after each the time is told, which decides what only time decides."""
    with patch.object(idle_keys, "FORGET_FROM", 0):
        program = program_of(query)
        session = Session(program)
        found: Rows = []
        for batch in batches(query, rows, range(1, len(rows))):
            found += session.push(batch).to_pylist()
            if restarts:
                session = Session(program, snapshot=session.snapshot())
        return found + session.close().to_pylist()


def unnumbered(query: MatchQuery) -> MatchQuery:
    """Without the number of the match, for which every key with a match is remembered."""
    assert query.measures is not None
    size = Measure("size", infer(Aggregate("count", None, None), query.schema))
    others = tuple(measure for measure in query.measures if not isinstance(measure.expr, MatchNumber))
    return replace(query, measures=(size, *others))


def check(query: MatchQuery, rows: Rows, restarts: bool) -> None:
    rows = sorted(rows, key=lambda row: row["ts"])
    try:
        found = forgetful(query, rows, restarts)
    except UnsupportedError:
        assume(False)
    wrong = difference(reference.output(query, rows), found)
    assert not wrong, f"{to_text(query)}\n{wrong}"


@many
@given(preferred_queries(columnar=True), streams(max_size=20), st.booleans())
def test_row_patterns_with_columnar_conditions(query: MatchQuery, rows: Rows, restarts: bool) -> None:
    check(unnumbered(query), rows, restarts)


@many
@given(preferred_queries(columnar=False), streams(max_size=20), st.booleans())
def test_row_patterns_with_dynamic_conditions(query: MatchQuery, rows: Rows, restarts: bool) -> None:
    check(unnumbered(query), rows, restarts)


@settings(max_examples=30, deadline=None)
@given(preferred_queries(), streams(max_size=12), st.booleans())
def test_numbered_matches(query: MatchQuery, rows: Rows, restarts: bool) -> None:
    check(query, rows, restarts)
