"""What Spark is to do: a program over streams of rows, and how their rows may be divided among tasks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Protocol

import pyarrow as pa

from ostinato.hosts.spark.types import as_on_spark
from ostinato.program.input import Input
from ostinato.program.program import Body, Program, joined
from ostinato.tasks.fixed_division import FixedDivision
from ostinato.tasks.graph_division import GraphDivision, StreamKey
from ostinato.tasks.outside_streams import OutsideStream


class Compiled(Protocol):
    """A query; by what is asked of it, so that workers need not load what it was compiled with."""

    @property
    def program(self) -> Program: ...

    @property
    def output_schema(self) -> pa.Schema: ...


@dataclass(frozen=True)
class Work:
    """`output` are the columns of the results, in the types that Spark shows and gets. `is_set`: results of several queries, told apart by
    the first column; `quarantines`: those that fail are put aside, and their errors are in the last column. `fixed`: how
    the rows of streams are divided, where the queries change while it runs, and `program` are those of the beginning."""

    program: Program
    output: pa.Schema
    is_set: bool = False
    quarantines: bool = False
    fixed: FixedDivision | None = None

    @staticmethod
    def of(query: Compiled) -> Work:
        """A query with those that it reads."""
        return Work(query.program, as_on_spark(query.output_schema))

    @property
    def patterns(self) -> tuple[Body, ...]:
        return tuple(operator.body for operator in self.program.operators)

    @property
    def pattern(self) -> Body:
        """That of the one result."""
        return self.program.body

    @cached_property
    def division(self) -> GraphDivision:
        return GraphDivision(self.program)

    @property
    def streams(self) -> tuple[OutsideStream, ...]:
        """Those from outside, as they are numbered."""
        return self.division.streams if self.fixed is None else self.fixed.fed(self.program)

    def keys_of(self, stream: int) -> tuple[StreamKey, ...]:
        """By which the rows of a stream that runs are divided."""
        return self._running.keys_of(stream) if self.fixed is None else self.fixed.keys[stream]

    @property
    def is_divided(self) -> bool:
        return self._running.is_keyed if self.fixed is None else self.fixed.is_keyed

    @cached_property
    def _running(self) -> GraphDivision:
        """A session per bucket has its rows in order of time."""
        return GraphDivision(self.program, rows_anywhere=True)

    @property
    def is_composed(self) -> bool:
        """Whether operators read what others return."""
        return any(source.operator >= 0 for reads in self.program.inputs for source in reads.sources)

    @cached_property
    def reads(self) -> Input:
        """What all operators read, where none reads what another returns, and all read the same in the same order."""
        return reduce(joined, self.program.inputs)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Of the same: rows that differ in these columns never meet in a match; none: all rows have to be in one place."""
        common = set.intersection(*(set(self.division.common_keys(number)) for number in range(len(self.program.inputs))))
        return tuple(name for name in self.reads.key_names if name in common)
