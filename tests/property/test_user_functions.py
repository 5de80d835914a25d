"""Functions of users in random queries: the engine finds what the definition says, wherever they stand and however the rows are cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.property.drive import engine_output

from ostinato import reference
from ostinato.algebra.policies import Selection
from ostinato.algebra.query import MatchQuery
from ostinato.algebra.text import to_text
from ostinato.algebra.user_calls import user_calls
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Call, Expr, type_of
from ostinato.expr.types import BOOL, FLOAT
from ostinato.expr.typing.infer import infer
from ostinato.expr.user_function import UserFunction
from ostinato.testing.compare_rows import difference
from ostinato.testing.strategies import preferred_queries, run_queries, streams

Rows = list[dict[str, Any]]
many = settings(max_examples=100, deadline=None)


def _related(a: float, b: float) -> bool | None:
    if a + b == 2.0:
        return None
    return 2.0 * a < b + 1.5


def _related_columns(a: pa.Array, b: pa.Array) -> pa.Array:
    """Null is smaller than everything."""
    return pc.less(pc.fill_null(a, -10.0), pc.fill_null(b, -10.0))


def _halved(a: float) -> float:
    return a / 2.0


RELATED = UserFunction("related", (FLOAT, FLOAT), BOOL, compiled=True, strict=True, body=_related)
OVER_COLUMNS = UserFunction("related", (FLOAT, FLOAT), BOOL, compiled=False, strict=False, body=_related_columns)
HALVED = UserFunction("halved", (FLOAT,), FLOAT, compiled=True, strict=True, body=_halved)


def with_function(query: MatchQuery, function: UserFunction) -> MatchQuery:
    """Comparisons of numbers become calls, and numbers that are shown are halved."""

    def asked(expr: Expr) -> Expr:
        changed = expr.map_children(asked)
        compared = isinstance(changed, Call) and changed.name in ("lt", "le", "gt", "ge", "eq", "ne")
        if compared and all(type_of(arg).is_numeric for arg in changed.children()):
            return Call(function.name, changed.children(), function)
        return changed

    def shown(expr: Expr) -> Expr:
        return Call("halved", (expr,), HALVED) if type_of(expr).is_numeric else expr

    def typed(change: Callable[[Expr], Expr], expr: Expr) -> Expr:
        return infer(change(expr), query.schema)

    definitions = tuple(
        replace(one, conditions=tuple(replace(condition, expr=typed(asked, condition.expr)) for condition in one.conditions))
        for one in query.definitions
    )
    measures = None if query.measures is None else tuple(replace(one, expr=typed(shown, one.expr)) for one in query.measures)
    return replace(query, definitions=definitions, measures=measures)


def check(query: MatchQuery, rows: Rows, cuts: list[int]) -> None:
    assume(any(True for _ in user_calls(query)))
    try:
        found = engine_output(query, rows, [cut for cut in cuts if cut <= len(rows)], restarts=True)
    except UnsupportedError:
        assume(False)
    wrong = difference(reference.output(query, rows), found)
    assert not wrong, f"{to_text(query)}\n{wrong}"


cuts = st.lists(st.integers(0, 9), max_size=3)


@many
@given(preferred_queries(columnar=True), streams(), cuts)
def test_over_columns_in_conditions_on_rows_and_neighbours(query: MatchQuery, rows: Rows, cuts: list[int]) -> None:
    check(with_function(query, OVER_COLUMNS), rows, cuts)


@many
@given(preferred_queries(columnar=True), streams(), cuts)
def test_compiled_in_conditions_on_rows_and_neighbours(query: MatchQuery, rows: Rows, cuts: list[int]) -> None:
    check(with_function(query, RELATED), rows, cuts)


@many
@given(preferred_queries(columnar=False), streams(), cuts)
def test_compiled_in_conditions_over_the_match(query: MatchQuery, rows: Rows, cuts: list[int]) -> None:
    check(with_function(query, RELATED), rows, cuts)


@many
@given(run_queries(selections=(Selection.STRICT, Selection.PARTITION, Selection.NEXT, Selection.ANY)), streams(max_size=9), cuts)
def test_compiled_in_runs(query: MatchQuery, rows: Rows, cuts: list[int]) -> None:
    check(with_function(query, RELATED), rows, cuts)
