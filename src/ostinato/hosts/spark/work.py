"""What Spark is to do: a program over one stream of rows, and how its rows may be divided among tasks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Protocol

import pyarrow as pa

from ostinato.hosts.spark.types import as_on_spark
from ostinato.program.input import Input
from ostinato.program.pattern import Pattern
from ostinato.program.program import Body, Program, alone, joined
from ostinato.tasks.division import division_of


class Compiled(Protocol):
    """A query; by what is asked of it, so that workers need not load what it was compiled with."""

    @property
    def pattern(self) -> Pattern: ...

    @property
    def output_schema(self) -> pa.Schema: ...


@dataclass(frozen=True)
class Work:
    """`output` are the columns of the results, in the types that Spark shows and gets. `is_set`: results of several queries, told apart by
    the first column."""

    program: Program
    output: pa.Schema
    is_set: bool = False

    @staticmethod
    def of(query: Compiled) -> Work:
        """One query, without those that it reads."""
        return Work(alone(query.pattern), as_on_spark(query.output_schema))

    @property
    def patterns(self) -> tuple[Body, ...]:
        return tuple(operator.body for operator in self.program.operators)

    @property
    def pattern(self) -> Body:
        """That of the one query."""
        return self.program.body

    @cached_property
    def reads(self) -> Input:
        """What all of them read from outside."""
        return reduce(joined, (reads for reads in self.program.inputs if not _has_upstream(reads)))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Rows that differ in these columns never meet in a match; none: all rows have to be in one place, as where the results of one
        step are the rows of another, by keys of their own."""
        if any(map(_has_upstream, self.program.inputs)):
            return ()
        common = set.intersection(*(set(division_of(pattern).keys) for pattern in self.patterns))
        return tuple(name for name in self.reads.key_names if name in common)


def _has_upstream(reads: Input) -> bool:
    """Whether its rows come from operators of the same program."""
    return any(source.operator >= 0 for source in reads.sources)
