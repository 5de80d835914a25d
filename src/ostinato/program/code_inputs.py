"""Which columns of the stream code reads."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.program.column_code import ColumnCode
from ostinato.program.measure_code import MeasureCode
from ostinato.program.negation import Negation

POINT = "point:"  # before the number of a point and a column, among the inputs of `MeasureCode.code`
COLUMN = "column:"  # before the name of a stream column, among the inputs of `MeasureCode.rows`


def code_inputs(code: ColumnCode) -> Iterator[str]:
    yield from (op.params[0] for op in code.ops if op.op == "input")


def measure_columns(measures: MeasureCode) -> Iterator[str]:
    """Of the rows of matches, and of the points that measures look at."""
    yield from (name.removeprefix(COLUMN) for name in code_inputs(measures.rows) if name.startswith(COLUMN))
    if measures.code is not None:
        yield from (name.split(":", 2)[2] for name in code_inputs(measures.code) if name.startswith(POINT))


def numbers_matches(measures: MeasureCode) -> bool:
    """Whether a measure asks for the number of a match."""
    return aggregates_numbers(measures) or (measures.code is not None and "match_number" in code_inputs(measures.code))


def aggregates_numbers(measures: MeasureCode) -> bool:
    """Whether an aggregate is over the numbers of matches."""
    return "match_number" in code_inputs(measures.rows)


def negation_columns(negation: Negation) -> Iterator[str]:
    """Of the matches, and of negated events beyond what their bits say."""
    yield from measure_columns(negation.given)
    for item in negation.items:
        if item.test is not None:
            yield from (name.split(":", 2)[2] for name in code_inputs(item.test) if name.startswith("event:"))
