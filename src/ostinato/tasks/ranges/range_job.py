"""A query over Parquet files in time ranges, as plain text: the driver plans it, tasks run it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from functools import cached_property

import pyarrow as pa

from ostinato.archive.ordered_rows import OrderedRows
from ostinato.archive.row_groups import RowGroup
from ostinato.expr.user_function import UserFunction
from ostinato.program import serde
from ostinato.program.analysis.look_around import look_around
from ostinato.program.intervals import IntervalPattern
from ostinato.program.pattern import Pattern
from ostinato.program.program import alone
from ostinato.runtime.limits.budget import Budget, MemoryShare, Overflow
from ostinato.tasks.ranges.match_places import PLACE
from ostinato.tasks.ranges.time_ranges import TimeRange


@dataclass(frozen=True)
class RangeJob:
    """`input` are the columns that the program reads, `output` what tasks yield; `budget` is that of a task."""

    pattern: Pattern
    input: pa.Schema
    output: pa.Schema
    groups: tuple[RowGroup, ...]
    ranges: tuple[TimeRange, ...]
    budget: Budget = Budget()

    @cached_property
    def rows(self) -> OrderedRows:
        return OrderedRows(self.groups, self.pattern.reads, self.input)

    @cached_property
    def back(self) -> int:
        """The rows before a match that it looks at. A situation that satisfied its condition at the row before a range began there."""
        derives = isinstance(self.pattern, IntervalPattern) and any(one.start < 0 for one in self.pattern.definitions)
        return look_around(self.pattern).before + derives

    @property
    def is_placed(self) -> bool:
        """Whether what tasks give is in an order, because it is not the result yet."""
        return PLACE in self.output.names

    def dumps(self) -> str:
        budget = self.budget
        return json.dumps(
            {
                "program": _text(serde.dumps(alone(self.pattern))),
                "input": _text(self.input.serialize().to_pybytes()),
                "output": _text(self.output.serialize().to_pybytes()),
                "groups": [astuple(group) for group in self.groups],
                "ranges": [astuple(one) for one in self.ranges],
                "budget": [budget.runs, budget.bytes, budget.overflow.value, budget.steps, isinstance(budget.bytes, MemoryShare)],
            }
        )

    @staticmethod
    def loads(text: str, functions: Mapping[str, UserFunction] | None = None) -> RangeJob:
        parts = json.loads(text)
        runs, size, overflow, steps, is_share = parts["budget"]
        return RangeJob(
            pattern=serde.loads(_bytes(parts["program"]), functions).body,
            input=pa.ipc.read_schema(pa.py_buffer(_bytes(parts["input"]))),
            output=pa.ipc.read_schema(pa.py_buffer(_bytes(parts["output"]))),
            groups=tuple(RowGroup(*group) for group in parts["groups"]),
            ranges=tuple(TimeRange(*one) for one in parts["ranges"]),
            budget=Budget(runs, MemoryShare(size) if is_share else size, Overflow(overflow), steps),
        )


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)
