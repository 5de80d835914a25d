"""Rows that came too late: handed over with the reason where somebody wants them, only counted otherwise."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ostinato.base.errors import StateError
from ostinato.expr.typing.arrow_types import to_arrow as arrow_type
from ostinato.kernels.vectors.vector import Vector, to_arrow
from ostinato.program.input import Input

REASON = "reason"


class LateRows:
    """They are kept until they are taken, part of the snapshot."""

    def __init__(self, reads: Input, keeps: bool) -> None:
        self._reads = reads
        self._keeps = keeps
        self._kept: list[pa.Table] = []
        self.bytes = 0  # of those that nobody has taken; asked for at every push
        self.count = 0
        self.schema = late_schema(reads)

    def add(self, rows: pa.Table, missed: np.ndarray) -> None:
        """Rows with times before their watermarks, which are the watermarks that they missed."""
        self.count += rows.num_rows
        if self._keeps:
            shown = rows.select([column.name for column in self._reads.data_columns]).cast(pa.schema(list(self.schema)[:-1]))
            kept = shown.append_column(self.schema.field(-1), self._reasons(missed))
            self._kept.append(kept)
            self.bytes += kept.nbytes

    def _reasons(self, missed: np.ndarray) -> pa.Array:
        watermarks = to_arrow(Vector(self._reads.columns[self._reads.time].type, np.ascontiguousarray(missed), None, None))
        return pc.binary_join_element_wise(pa.scalar("before the watermark"), watermarks.cast(pa.string()), " ")

    def take(self) -> pa.Table:
        kept, self._kept, self.bytes = self._kept, [], 0
        return pa.concat_tables(kept) if kept else self.schema.empty_table()

    @property
    def waiting(self) -> int:
        return sum(table.num_rows for table in self._kept)

    def state(self) -> pa.Table | None:
        return pa.concat_tables(self._kept).combine_chunks() if self._kept else None

    def load(self, kept: pa.Table | None, count: int) -> None:
        if kept is not None and kept.schema != self.schema:
            raise StateError("the snapshot is not valid", detail=f"late rows have the columns {', '.join(self.schema.names)}")
        self._kept = [] if kept is None else [kept]
        self.bytes = 0 if kept is None else kept.nbytes
        self.count = count


def late_schema(reads: Input) -> pa.Schema:
    """The columns that the query reads, and the reason."""
    fields = [pa.field(column.name, arrow_type(column.type)) for column in reads.data_columns]
    name = REASON
    while name in {field.name for field in fields}:
        name += "_"
    return pa.schema([*fields, pa.field(name, pa.string())])
