"""Single values and columns give what the table of functions says, nulls and failures included."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from tests.unit.expr.function_table import COLUMNS, FAILS, TABLE, Rows

from ostinato.base.errors import DataError
from ostinato.expr.nodes import Call, Expr, Field
from ostinato.expr.reading.parse import parse_expression
from ostinato.expr.typing.arrow_types import schema_from_arrow
from ostinato.expr.typing.functions import FUNCTIONS
from ostinato.expr.typing.infer import infer
from ostinato.expr.values.evaluate import evaluate
from ostinato.kernels.vectors import evaluate as columnar
from ostinato.kernels.vectors.vector import from_arrow, to_arrow
from ostinato.plan.column_code import ColumnBuilder

SCHEMA = schema_from_arrow(pa.schema(list(COLUMNS.items())))


class AtRow:
    def __init__(self, row: dict[str, Any]) -> None:
        self.row = row

    def field(self, name: str) -> Any:
        return self.row[name]


def typed(text: str) -> Expr:
    return infer(parse_expression(text), SCHEMA)


def by_value(expr: Expr, row: dict[str, Any]) -> Any:
    try:
        return evaluate(expr, AtRow(row))
    except DataError:
        return FAILS


def by_column(expr: Expr, rows: list[dict[str, Any]]) -> list[Any]:
    builder = ColumnBuilder()
    code = builder.finish([builder.add(expr, lambda node: builder.input(node.name, node.type) if isinstance(node, Field) else None)])
    table = {name: pa.array([row[name] for row in rows], COLUMNS[name]) for name in rows[0]}
    try:
        (found,) = columnar.evaluate(code, len(rows), lambda name: from_arrow(table[name]))
    except DataError:
        return [FAILS] * len(rows)
    return to_arrow(found).to_pylist()


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, float) and isinstance(found, float):
        return (math.isnan(found) and math.isnan(wanted)) or math.isclose(found, wanted, rel_tol=1e-15)
    return type(found) is type(wanted) and found == wanted


def given(columns: str, row: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(columns.split(), row[:-1], strict=True))


@pytest.mark.parametrize(("text", "columns", "rows"), TABLE, ids=[text for text, _, _ in TABLE])
def test_values_and_columns(text: str, columns: str, rows: Rows) -> None:
    expr = typed(text)
    values = [by_value(expr, given(columns, row)) for row in rows]
    assert all(same(value, row[-1]) for value, row in zip(values, rows, strict=True)), values
    alone = [by_column(expr, [given(columns, row)])[0] for row in rows]
    assert all(same(value, row[-1]) for value, row in zip(alone, rows, strict=True)), alone
    held = [row for row in rows if row[-1] != FAILS]
    together = by_column(expr, [given(columns, row) for row in held])
    assert all(same(value, row[-1]) for value, row in zip(together, held, strict=True)), together


def test_every_function_is_in_the_table() -> None:
    called = {node.name for text, _, _ in TABLE for node in typed(text).walk() if isinstance(node, Call)}
    assert set(FUNCTIONS) - called == set()
