"""A set of queries over Parquet files in time ranges: what the driver has planned, for all tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from ostinato.archive.ordered_rows import OrderedRows
from ostinato.archive.row_groups import RowGroup
from ostinato.program.input import Input
from ostinato.program.program import Body, Operator, Program
from ostinato.runtime.limits.budget import Budget
from ostinato.tasks.ranges.start_marks import start_column, with_start
from ostinato.tasks.ranges.time_ranges import TimeRange


@dataclass(frozen=True)
class SetJob:
    """`reads` has the columns of all queries, `input` their types in the files; `window` is the longest of the queries. `quarantines`:
    queries that fail are put aside."""

    program: Program
    reads: Input
    input: pa.Schema
    groups: tuple[RowGroup, ...]
    ranges: tuple[TimeRange, ...]
    window: int
    budget: Budget = Budget()
    quarantines: bool = False

    @cached_property
    def rows(self) -> OrderedRows:
        return OrderedRows(self.groups, self.reads, self.input)

    @property
    def marked(self) -> Program:
        """The queries, which tell besides where each match starts."""
        return replace(self.program, operators=tuple(map(_marked, self.program.operators)))

    def starts(self) -> dict[str, str]:
        """By the names of queries and shapes, the column that does so."""
        return {result.query: start_column(self.program.operators[result.operator].body) for result in self.program.results}


def _marked(operator: Operator) -> Operator:
    body = with_start(operator.body)
    assert isinstance(body, Body)
    return replace(operator, body=body)
