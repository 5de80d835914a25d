"""Aggregates over all matches: every task gives those of its range, and they are put together at the end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from ostinato.program.column_code import ColumnCode
from ostinato.program.pattern import Pattern
from ostinato.runtime.output.match_totals import Total, together, totals_table
from ostinato.runtime.output.measures import measured_schema
from ostinato.tasks.ranges.match_places import PLACE

PART = "__ostinato_part"
TASK_OUTPUT = pa.schema([(PART, pa.string()), (PLACE, pa.int64())])


def task_program(pattern: Pattern) -> Pattern:
    """The program that tasks run: what is computed from the aggregates waits until they are known."""
    return replace(pattern, measures=replace(pattern.measures, names=(), code=ColumnCode()))


def totals_part(totals: Sequence[Total]) -> pa.Table:
    return pa.table({PART: [json.dumps(totals)]})


def merged(parts: pa.Table, pattern: Pattern) -> pa.Table:
    """The result of the query from those of all ranges. Doubles are added in the order of the ranges."""
    first, *others = (json.loads(text) for text in parts.sort_by(PLACE).column(PART).to_pylist())
    for other in others:
        first = together(pattern, first, other)
    return totals_table(pattern, measured_schema(pattern), first)
