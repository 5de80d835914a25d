"""A program that also tells where each match starts and ends, so that a task can report the matches of its own range only."""

from __future__ import annotations

from dataclasses import replace

from ostinato.expr.types import INT, Type
from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.input import Column, Input
from ostinato.program.intervals import IntervalPattern
from ostinato.program.measure_code import MeasureCode, Point
from ostinato.program.pattern import Pattern, RowPattern

ROW = "__ostinato_row"  # the number of a row within the task, in the program's order
START_TIME = "__ostinato_start_time"
START_ROW = "__ostinato_start_row"
END_ROW = "__ostinato_end_row"
START_OF_DEFAULT = "start_ts"  # the default output has it already


def start_column(pattern: Pattern) -> str:
    """The output column of a marked program that holds the time of a match's first row."""
    return START_OF_DEFAULT if _shows_start(pattern) else START_TIME


def with_start(pattern: Pattern) -> Pattern:
    """Adds the time of the first row to the output, unless that shows it."""
    if _shows_start(pattern):
        return pattern
    time = pattern.reads.columns[pattern.reads.time]
    return replace(pattern, measures=_with_inputs(pattern.measures, [(START_TIME, "FIRST", time.name, time.type)]))


def _shows_start(pattern: Pattern) -> bool:
    """The default output does, and that of every pattern of situations."""
    return pattern.measures.code is None or isinstance(pattern, IntervalPattern)


def with_rows(pattern: Pattern) -> Pattern:
    """Adds the numbers of the first and the last row: the input has to bring the column `ROW`."""
    code = pattern.measures.code or ColumnCode()
    marks = [(START_ROW, "FIRST", ROW, INT), (END_ROW, "LAST", ROW, INT)]
    measures = _with_inputs(replace(pattern.measures, code=code, names=pattern.measures.names if pattern.measures.code else ()), marks)
    return replace(pattern, reads=with_row_numbers(pattern.reads), measures=measures)


def with_row_numbers(reads: Input) -> Input:
    return replace(reads, columns=(*reads.columns, Column(ROW, INT)))


def only_rows(pattern: Pattern) -> Pattern:
    """As `with_rows`, without the measures of the query: a row per match."""
    unmeasured = replace(pattern, measures=MeasureCode((), ColumnCode()))
    return with_rows(replace(unmeasured, rows_per_match="one") if isinstance(unmeasured, RowPattern) else unmeasured)


def _with_inputs(measures: MeasureCode, marks: list[tuple[str, str, str, Type]]) -> MeasureCode:
    code = measures.code
    assert code is not None
    points = list(measures.points)
    ops = list(code.ops)
    results = list(code.results)
    names = list(measures.names)
    for name, anchor, column, kind in marks:
        point = Point(-1, anchor, 0, 0)
        if point not in points:
            points.append(point)
        ops.append(ColumnOp("input", (), kind, (f"point:{points.index(point)}:{column}",)))
        results.append(len(ops) - 1)
        names.append(name)
    return replace(measures, names=tuple(names), code=ColumnCode(tuple(ops), tuple(results)), points=tuple(points))
