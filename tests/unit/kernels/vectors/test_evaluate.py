from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ostinato.base.errors import DataError, UnsupportedError
from ostinato.expr.nodes import Expr, Field
from ostinato.expr.reading.parse import parse_expression
from ostinato.expr.types import BOOL, FLOAT, INT, decimal
from ostinato.expr.typing.arrow_types import schema_from_arrow
from ostinato.expr.typing.infer import infer
from ostinato.kernels.vectors import evaluate as columnar
from ostinato.kernels.vectors.schedule import schedule
from ostinato.kernels.vectors.vector import Vector, from_arrow, to_arrow
from ostinato.plan.column_code import ColumnBuilder
from ostinato.program.column_code import ColumnCode, ColumnOp


def moved(vector: Vector, n: int) -> Vector:
    """One partition."""
    rows = np.arange(len(vector)) + n
    inside = (rows >= 0) & (rows < len(vector))
    rows = np.where(inside, rows, 0)
    valid = inside if vector.valid is None else inside & vector.valid[rows]
    return Vector(vector.type, vector.data[rows], valid, vector.dictionary)


def values(table: pa.Table, *texts: str) -> list[list]:
    builder = ColumnBuilder()
    schema = schema_from_arrow(table.schema)

    def resolve(node: Expr) -> int | None:
        if not isinstance(node, Field):
            return None
        if node.name.startswith("prev_"):
            return builder.shift(builder.input(node.name[5:], node.type), -1)
        return builder.input(node.name, node.type)

    code = builder.finish([builder.add(infer(parse_expression(text), schema), resolve) for text in texts])
    results = columnar.evaluate(code, table.num_rows, lambda name: from_arrow(table[name]), moved)
    assert all(len(result) == table.num_rows for result in results)
    return [to_arrow(result).to_pylist() for result in results]


@pytest.fixture(params=[2, 1 << 16], ids=["blocks", "whole"])
def table(request, monkeypatch):
    monkeypatch.setattr(columnar, "BLOCK", request.param)
    columns = {"x": [3, 1, None, 5, 4], "s": ["b", "a", "b", None, "c"], "t": ["b", "b", "a", "a", None], "big": [2**63 - 1, 1, 1, 1, 1]}
    return pa.table(columns | {"prev_x": columns["x"], "prev_s": columns["s"]})


def test_results_in_order_and_shared(table):
    found = values(table, "x + 1", "x + 1 > 3", "5", "null is null")
    assert found == [[4, 2, None, 6, 5], [True, False, None, True, True], [5] * 5, [True] * 5]


def test_shifts_look_at_whole_columns(table):
    found = values(table, "x < prev_x", "prev_s", "s || prev_s", "length(s) + x > prev_x")
    assert found == [
        [None, True, None, None, True],
        [None, "b", "a", "b", None],
        [None, "ab", "ba", None, None],
        [None, False, None, None, False],
    ]


def test_columns_of_strings_compare_across_dictionaries(table):
    assert values(table, "s = t", "s < t", "s >= 'b'", "'b' > s", "s in ('a', 'c')", "greatest(s, t)", "coalesce(s, t)") == [
        [True, False, False, None, None],
        [False, True, False, None, None],
        [True, False, True, None, True],
        [False, True, False, None, False],
        [False, True, False, None, True],
        ["b", "b", "b", "a", "c"],
        ["b", "a", "b", "a", "c"],
    ]


def test_overflow_fails_only_where_the_value_is_needed(table):
    assert values(table, "case when big > 1 then 0 else big + 1 end") == [[0, 2, 2, 2, 2]]
    assert values(table, "big < 10 and big + 1 = 2") == [[False, True, True, True, True]]
    assert values(table, "coalesce(x, big + 1)") == [[3, 1, 2, 5, 4]]
    needed = ("big + 1", "-(big * 2)", "big + 1 is null", "case when big + 1 > 0 then 1 end", "coalesce(big + 1, 0)", "big * 2 in (1, 2)")
    for text in needed:
        with pytest.raises(DataError, match="64 bits"):
            values(table, text)


def test_a_null_is_no_overflow(table):
    empty = pa.table({"a": pa.array([2**63 - 1, 1]), "b": pa.array([None, 1], pa.int64())})
    assert values(empty, "a + b", "a * b") == [[None, 2], [None, 1]]


def test_a_failure_moves_with_its_row():
    table = pa.table({"big": [2**63 - 1, 5], "ok": [True, False]})
    builder = ColumnBuilder()
    schema = schema_from_arrow(table.schema)
    total = builder.shift(builder.add(infer(parse_expression("big + 1"), schema), lambda n: _input(builder, n)), -1)

    def run(*results: int) -> list[Vector]:
        return columnar.evaluate(builder.finish(results), 2, lambda name: from_arrow(table[name]), moved)

    with pytest.raises(DataError):
        run(total)
    ok = builder.input("ok", BOOL)
    shifted_ok = builder._op("case", (ok, total, builder.literal(0, INT)), INT)
    assert to_arrow(run(shifted_ok)[0]).to_pylist() == [None, 0]


def _input(builder: ColumnBuilder, node: Expr) -> int | None:
    return builder.input(node.name, node.type) if isinstance(node, Field) else None


def test_bad_strings_fail_only_where_they_occur():
    table = pa.table({"s": ["1", "x", "3"], "n": [1, 2, 3]})
    assert values(table, "case when n <> 2 then cast(s as bigint) end") == [[1, None, 3]]
    with pytest.raises(DataError, match="'x' is not an integer"):
        values(table, "cast(s as bigint)")


def test_empty_input():
    table = pa.table({"x": pa.array([], pa.int64()), "s": pa.array([], pa.string())})
    texts = ("x + 1", "upper(s)", "s = 'a'", "5", "s || s", "9223372036854775807 + 1", "cast(s as date)", "s in ('a', 'b', 'c', 'd')")
    assert values(table, *texts, "strpos('', s)", "substring(s, x, 0)", "s || 'x' || s") == [[]] * 11


def test_a_batch_whose_column_is_all_null_or_of_another_scale():
    code = ColumnCode((ColumnOp("input", (), decimal(10, 2), ("d",)), ColumnOp("input", (), FLOAT, ("f",))), (0, 1))
    table = pa.table({"d": pa.array([15], pa.decimal128(5, 1)), "f": pa.nulls(1)})
    found = columnar.evaluate(code, 1, lambda name: from_arrow(table[name]), moved)
    assert [found[0].data[0], to_arrow(found[1]).to_pylist()] == [1500, [None]]


def test_unknown_operations_are_refused():
    code = ColumnCode((ColumnOp("call", (), INT, ("mystery",)),), (0,))
    with pytest.raises(UnsupportedError, match="mystery"):
        columnar.evaluate(code, 1, lambda name: Vector(INT, np.zeros(1)), moved)


def test_comparisons_go_in_blocks_and_strings_whole():
    table = pa.table({"x": [1.0], "y": [2.0], "s": ["a"]})
    builder = ColumnBuilder()
    schema = schema_from_arrow(table.schema)
    expr = infer(parse_expression("x + y > 1 and s = 'a'"), schema)
    code = builder.finish([builder.add(expr, lambda n: _input(builder, n))])
    stages = schedule(code)
    assert [code.ops[i].params for stage in stages for i in stage.blocked] == [("add",), ("gt",), ("and",)]
    assert [len(stage.kept) for stage in stages] == [1]


def test_nan_is_the_greatest_wherever_it_stands():
    nan = float("nan")
    rows = pa.table({"x": [1.0, nan, nan, None], "y": [nan, 2.0, nan, nan]})
    least, greatest = values(rows, "least(x, y)", "greatest(x, y)")
    assert least[:2] == [1.0, 2.0]
    assert all(value != value for value in [*least[2:], *greatest])


def test_intervals_of_months_days_and_nanoseconds():
    months = pa.array([(0, 1, 5_000), None, (0, -1, 0)], pa.month_day_nano_interval())
    assert values(pa.table({"iv": months}), "epoch_us(iv)") == [[86_400_000_005, None, -86_400_000_000]]
    with pytest.raises(DataError, match="months"):
        from_arrow(pa.array([(1, 0, 0)], pa.month_day_nano_interval()))
    with pytest.raises(DataError, match="finer than microseconds"):
        from_arrow(pa.array([(0, 0, 999)], pa.month_day_nano_interval()))


def test_what_cannot_be_computed_is_named_by_its_columns(table):
    with pytest.raises(DataError) as caught:
        values(table, "x", "big + x * 2")
    assert caught.value.detail == "Computed from `big`, `x`"
