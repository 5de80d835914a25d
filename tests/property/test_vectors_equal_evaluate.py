"""Columns compute what single values compute, nulls and errors included."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.row_expressions import SCHEMA, as_table, row_expressions, rows

from ostinato.base.errors import DataError, OstinatoError, TypeMismatchError
from ostinato.expr.fold import fold
from ostinato.expr.nodes import Call, Expr, Field
from ostinato.expr.reading.parse import parse_expression
from ostinato.expr.text import to_text
from ostinato.expr.typing.infer import infer
from ostinato.expr.typing.physical import from_physical
from ostinato.expr.values.evaluate import evaluate
from ostinato.kernels.vectors import evaluate as columnar
from ostinato.kernels.vectors.vector import Vector, from_arrow, to_arrow
from ostinato.plan.column_code import ColumnBuilder


class AtRow:
    def __init__(self, row: dict[str, Any]) -> None:
        self.row = row

    def field(self, name: str) -> Any:
        return self.row[name]


def typed(expr: Expr) -> Expr | None:
    """None for the few combinations that have too many digits to be held."""
    try:
        return infer(expr, SCHEMA)
    except TypeMismatchError as e:
        assert "digits" in e.message or "time zone" in e.message or "range of nanoseconds" in e.message
        return None


def by_value(expr: Expr, given_rows: list[dict[str, Any]]) -> Any:
    try:
        return [evaluate(expr, AtRow(row)) for row in given_rows]
    except DataError:
        return "error"


def by_column(expr: Expr, given_rows: list[dict[str, Any]]) -> Any:
    builder = ColumnBuilder()
    result = builder.add(expr, lambda node: builder.input(node.name, node.type) if isinstance(node, Field) else None)
    table = as_table(given_rows)

    def no_shift(vector: Vector, n: int) -> Vector:
        raise AssertionError("row expressions do not shift")

    code = builder.finish([result])
    try:
        found = columnar.evaluate(code, len(given_rows), lambda name: from_arrow(table[name]), no_shift)
        column = to_arrow(found[0])
        return [from_physical(nanos, expr.type) for nanos in counted(column)] if expr.type.unit == "ns" else column.to_pylist()
    except DataError:
        return "error"


def counted(times: pa.Array) -> list[int | None]:
    return times.cast(pa.int64()).to_pylist()


def alike(a: Any, b: Any) -> bool:
    """Equal, but for the last digits of what goes through transcendental functions (NumPy's differ from the C library's)."""
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or a == b or math.isclose(a, b, rel_tol=1e-9)
    return type(a) is type(b) and a == b


INEXACT = ("exp(", "ln(", "log10(", "power(")


@settings(max_examples=150, deadline=None)
@given(row_expressions(), rows())
def test_columns_equal_values(expr: Expr, given_rows: list[dict[str, Any]]) -> None:
    expr = typed(expr)
    if expr is None:
        return
    wanted, found = by_value(expr, given_rows), by_column(expr, given_rows)
    if any(name in to_text(expr) for name in INEXACT) and not alike(wanted, found):
        return  # a last digit may decide a comparison or a rounding further up; these functions have a test of their own below
    assert alike(wanted, found), (to_text(expr), wanted, found)


@st.composite
def transcendental_calls(draw: st.DrawFn) -> Expr:
    name = draw(st.sampled_from(("exp", "ln", "log10", "power")))
    kinds = st.sampled_from(("int", "float", "decimal"))
    return Call(name, tuple(draw(row_expressions(draw(kinds), depth=0)) for _ in range(2 if name == "power" else 1)))


@settings(max_examples=150, deadline=None)
@given(transcendental_calls(), rows())
def test_transcendental_functions_agree_but_for_the_last_digits(expr: Expr, given_rows: list[dict[str, Any]]) -> None:
    expr = infer(expr, SCHEMA)
    wanted, found = by_value(expr, given_rows), by_column(expr, given_rows)
    assert alike(wanted, found), (to_text(expr), wanted, found)


@settings(max_examples=60, deadline=None)
@given(row_expressions(depth=2), rows(max_size=9))
def test_blocks_make_no_difference(expr: Expr, given_rows: list[dict[str, Any]]) -> None:
    expr = typed(expr)
    if expr is None:
        return
    with pytest.MonkeyPatch.context() as patch:
        whole = by_column(expr, given_rows)
        patch.setattr(columnar, "BLOCK", 2)
        assert alike(whole, by_column(expr, given_rows)), to_text(expr)


@settings(max_examples=60, deadline=None)
@given(row_expressions(), rows(max_size=3))
def test_folding_changes_no_value(expr: Expr, given_rows: list[dict[str, Any]]) -> None:
    expr = typed(expr)
    if expr is None:
        return
    folded = fold(expr)
    assert folded.type == expr.type
    wanted = by_value(expr, given_rows)
    if wanted != "error":
        assert alike(by_value(folded, given_rows), wanted), (to_text(expr), to_text(folded))


@settings(max_examples=100, deadline=None)
@given(row_expressions())
def test_text_reads_back(expr: Expr) -> None:
    expr = typed(expr)
    if expr is None or "nan" in to_text(expr) or "inf" in to_text(expr) or "-0.0e0" in to_text(expr):
        return
    again = infer(parse_expression(to_text(expr)), SCHEMA)
    assert to_text(again) == to_text(expr)
    assert again == expr


SCRAPS = (
    ("i", "f", "s", "ts", "day", "b", '"q"', "1", "2.5", "1e3", "'x'", "''", "TRUE", "NULL", "upper", "(", ")", ",", "[", "]", ".", ";")
    + ("+", "-", "*", "/", "%", "=", "<", ">", "<>", "||", "::", "!", "`", "é", "\x00", "AND", "OR", "NOT", "IN", "LIKE", "BETWEEN", "IS")
    + ("CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "AS", "INT", "DATE", "INTERVAL", "MINUTE", "EXTRACT", "FROM", "HOUR")
)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=40), st.lists(st.sampled_from(SCRAPS), max_size=15).map(" ".join)))
def test_random_text_gives_a_type_or_a_clear_error(text: str) -> None:
    try:
        found = infer(parse_expression(text), SCHEMA)
    except OstinatoError as e:
        assert e.message
        assert e.span is None or 0 <= e.span.start <= e.span.end <= len(text)
        assert str(e.within(text))
    else:
        assert found.type is not None


def test_alike_tells_types_apart() -> None:
    assert not alike([1], [True])
    assert not alike([1], [Decimal(1)])
    assert alike([None, math.nan], [None, math.nan])
