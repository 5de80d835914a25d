from __future__ import annotations

import pytest

from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Expr, Field, Literal, MatchNumber
from ostinato.expr.reading.parse import parse_expression
from ostinato.expr.types import BOOL, FLOAT, INT
from ostinato.expr.typing.infer import infer
from ostinato.expr.typing.schema import Schema
from ostinato.plan.column_code import ColumnBuilder

SCHEMA = Schema((("x", INT), ("f", FLOAT)))


def added(builder: ColumnBuilder, text: str) -> int:
    def resolve(node: Expr) -> int | None:
        return builder.input(node.name, node.type) if isinstance(node, Field) else None

    return builder.add(infer(parse_expression(text), SCHEMA), resolve)


def test_equal_subexpressions_are_computed_once():
    builder = ColumnBuilder()
    first, second = added(builder, "x + 1 > 2"), added(builder, "x + 1 > 3")
    code = builder.finish([first, second])
    assert [op.params for op in code.ops] == [("x",), (1,), ("add",), (2,), ("gt",), (3,), ("gt",)]
    assert added(builder, "x + 1 > 2") == first
    assert code.results == (first, second)


def test_constants_that_are_equal_in_python_stay_apart():
    builder = ColumnBuilder()
    numbers = [builder.literal(value, type_) for value, type_ in ((1, INT), (1.0, FLOAT), (True, BOOL), (0.0, FLOAT), (-0.0, FLOAT))]
    assert len(set(numbers)) == 5


def test_conversions_are_operations():
    builder = ColumnBuilder()
    added(builder, "x < f")
    assert [op.op for op in builder.finish([]).ops] == ["input", "cast", "input", "call"]


def test_shifts_and_cases():
    builder = ColumnBuilder()
    x = builder.input("x", INT)
    assert builder.shift(x, 0) == x
    assert builder.shift(x, -1) == builder.shift(x, -1) != builder.shift(x, 1)
    case = builder.finish([added(builder, "case when x > 1 then x end")]).ops[-1]
    assert (case.op, len(case.args)) == ("case", 3)


def test_what_is_no_column_is_refused():
    builder = ColumnBuilder()
    with pytest.raises(UnsupportedError, match="MatchNumber"):
        builder.add(MatchNumber(type=INT), lambda node: None)
    with pytest.raises(AssertionError, match="inferred"):
        builder.add(Literal(1), lambda node: None)
