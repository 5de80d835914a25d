"""Columns of an operator's results that are columns of the rows that it reads, taken as they are at a row of the match."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.program.code_inputs import POINT
from ostinato.program.measure_code import MeasureCode, Point
from ostinato.program.pattern import Pattern

PARTITION = "partition:"


def values_at_points(measures: MeasureCode) -> Iterator[tuple[str, str, Point]]:
    """The measures that are the value of a column at a row of the match, not at its neighbours: their names, the column, and which row."""
    for name, source in plain_inputs(measures):
        if source.startswith(POINT):
            _, number, column = source.split(":", 2)
            if measures.points[int(number)].shift == 0:
                yield name, column, measures.points[int(number)]


def key_columns(pattern: Pattern) -> dict[str, tuple[str, bool]]:
    """The results that show a key of the match: which key, and whether they show it in every match. The rows of a match have one key, so
    any of them will do; one of a variable that a match may lack is null there."""
    keys = set(pattern.reads.key_names) if pattern.is_keyed else set()
    found = {name: (column, point.variable == -1) for name, column, point in values_at_points(pattern.measures) if column in keys}
    partitions = ((name, source.removeprefix(PARTITION)) for name, source in plain_inputs(pattern.measures) if source.startswith(PARTITION))
    return found | {name: (column, True) for name, column in partitions if column in keys}


def plain_inputs(measures: MeasureCode) -> Iterator[tuple[str, str]]:
    """The measures that are an input of the code and nothing more, with its name."""
    if measures.code is not None:
        for name, result in zip(measures.names, measures.code.results, strict=False):
            if measures.code.ops[result].op == "input":
                yield name, measures.code.ops[result].params[0]
