"""A result that is computed when it is read, and as far as it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import pyarrow as pa

from ostinato.hosts.embedded.result import Result

Evaluated = tuple[pa.Table, dict[str, int]]


class LazyResult(Result):
    """`batches()` needs memory for the state of the query and one piece of the result, however many matches there are. Everything else
    computes the whole result, within the budget, and keeps it. `metrics` are there when one of them is through."""

    def __init__(self, schema: pa.Schema, whole: Callable[[], Evaluated], parts: Callable[[dict[str, int]], Iterator[pa.Table]]) -> None:
        """Both evaluate the query; `parts` puts the counters into what it is given."""
        self._schema = schema
        self._whole = whole
        self._parts = parts
        self.metrics: dict[str, int] = {}

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @cached_property
    def _table(self) -> pa.Table:
        table, metrics = self._whole()
        self.metrics = metrics
        return table

    def batches(self) -> Iterator[pa.RecordBatch]:
        if "_table" in self.__dict__:
            yield from super().batches()
            return
        metrics: dict[str, int] = {}
        for table in self._parts(metrics):
            yield from table.to_batches()
        self.metrics = metrics
