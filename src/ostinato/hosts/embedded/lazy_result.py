"""A result that is computed when it is read, and as far as it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import pyarrow as pa

from ostinato.hosts.embedded.result import Result
from ostinato.hosts.embedded.run_query import Told


class LazyResult(Result):
    """`batches()` needs memory for the state of the query and one piece of the result, however many matches there are. Everything else
    computes the whole result, within the budget, and keeps it. `metrics` and `late` are
    there when one of them is through; `late` computes the result where none is."""

    def __init__(self, schema: pa.Schema, whole: Callable[[Told], pa.Table], parts: Callable[[Told], Iterator[pa.Table]]) -> None:
        """Both evaluate the query, and tell the rest."""
        self._schema = schema
        self._whole = whole
        self._parts = parts
        self._told: Told | None = None
        self.metrics: dict[str, int] = {}

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @cached_property
    def _table(self) -> pa.Table:
        table = self._whole(told := Told())
        self._keep(told)
        return table

    @property
    def late(self) -> pa.Table:
        if self._told is None:
            _ = self._table
        return super().late

    def _keep(self, told: Told) -> None:
        self._told, self.metrics, self._late = told, told.metrics, told.late

    def batches(self) -> Iterator[pa.RecordBatch]:
        if "_table" in self.__dict__:
            yield from super().batches()
            return
        told = Told()
        for table in self._parts(told):
            yield from table.to_batches()
        self._keep(told)
