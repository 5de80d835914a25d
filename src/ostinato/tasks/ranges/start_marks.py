"""A program that also tells where each match starts and ends, so that a task can report the matches of its own range only."""

from __future__ import annotations

from dataclasses import replace

from ostinato.expr.typing.types import INT, Type
from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.program import Column, MeasureCode, Point, Program

ROW = "__ostinato_row"  # the number of a row within the task, in the program's order
START_TIME = "__ostinato_start_time"
START_ROW = "__ostinato_start_row"
END_ROW = "__ostinato_end_row"
START_OF_DEFAULT = "start_ts"  # the default output has it already


def start_column(program: Program) -> str:
    """The output column of a marked program that holds the time of a match's first row."""
    return START_OF_DEFAULT if program.measures.code is None else START_TIME


def with_start(program: Program) -> Program:
    """Adds the time of the first row to the output, unless the default output shows it."""
    if program.measures.code is None:
        return program
    time = program.columns[program.time]
    return replace(program, measures=_with_inputs(program.measures, [(START_TIME, "FIRST", time.name, time.type)]))


def with_rows(program: Program) -> Program:
    """Adds the numbers of the first and the last row: the input has to bring the column `ROW`."""
    code = program.measures.code or ColumnCode()
    marks = [(START_ROW, "FIRST", ROW, INT), (END_ROW, "LAST", ROW, INT)]
    measures = _with_inputs(replace(program.measures, code=code, names=program.measures.names if program.measures.code else ()), marks)
    return replace(program, columns=(*program.columns, Column(ROW, INT)), measures=measures)


def only_rows(program: Program) -> Program:
    """As `with_rows`, without the measures of the query: a row per match."""
    return with_rows(replace(program, measures=MeasureCode((), ColumnCode()), rows_per_match="one"))


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
