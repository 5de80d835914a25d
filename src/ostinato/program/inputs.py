"""Which columns of the stream code reads."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.program.column_code import ColumnCode
from ostinato.program.program import MeasureCode, Negation


def code_inputs(code: ColumnCode) -> Iterator[str]:
    yield from (op.params[0] for op in code.ops if op.op == "input")


def measure_columns(measures: MeasureCode) -> Iterator[str]:
    """Of the rows of matches, and of the points that measures look at."""
    yield from code_inputs(measures.rows)
    if measures.code is not None:
        yield from (name.split(":", 2)[2] for name in code_inputs(measures.code) if name.startswith("point:"))


def negation_columns(negation: Negation) -> Iterator[str]:
    """Of the matches, and of forbidden events beyond what their bits say."""
    yield from measure_columns(negation.given)
    for item in negation.items:
        if item.test is not None:
            yield from (name.split(":", 2)[2] for name in code_inputs(item.test) if name.startswith("event:"))
