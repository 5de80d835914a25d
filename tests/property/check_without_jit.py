"""Run by itself, with NUMBA_DISABLE_JIT=1: a small set of random queries on the engine and on the reference."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.property.drive import engine_output

from ostinato import reference
from ostinato.algebra.query import MatchQuery
from ostinato.algebra.text import to_text
from ostinato.base.errors import UnsupportedError
from ostinato.testing.compare_rows import difference
from ostinato.testing.strategies import preferred_queries, run_queries, streams

queries = st.one_of(preferred_queries(columnar=True), preferred_queries(columnar=False), run_queries())


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(queries, streams(max_size=8), st.integers(0, 8))
def check(query: MatchQuery, rows: list[dict[str, Any]], split_statement: int) -> None:
    try:
        found = engine_output(query, rows, [min(split_statement, len(rows))])
    except UnsupportedError:
        assume(False)
    wrong = difference(reference.output(query, rows), found)
    assert not wrong, f"{to_text(query)}\n{wrong}"


if __name__ == "__main__":
    check()
    print("agree")
