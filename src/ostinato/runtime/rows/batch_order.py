"""Batches of rows that have an order but no time: they have to follow one another."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ostinato.base.errors import DataError, StateError
from ostinato.kernels.vectors.vector import from_arrow
from ostinato.program.input import Input
from ostinato.runtime.rows.ingest import sort_order


class BatchOrder:
    """Without a time nothing ever says that no earlier row can come, so that no row can wait for it. `last` is the last row so far."""

    def __init__(self, reads: Input) -> None:
        self._reads = reads
        self._columns = [reads.columns[number].name for number, _, _ in reads.order]
        self.last: pa.Table | None = None

    def check(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Refuse rows that belong before one of an earlier batch."""
        if not self._columns:
            return
        rows = batch.select(self._columns)
        rows = rows if isinstance(rows, pa.Table) else pa.Table.from_batches([rows])
        order = self._order(rows)
        first, last = (0, rows.num_rows - 1) if order is None else (int(order[0]), int(order[-1]))
        if self.last is not None:
            both = pa.concat_tables([self.last, rows.slice(first, 1)], promote_options="permissive")
            if self._order(both) is not None:
                raise DataError(
                    f'row {first} of this batch of stream "{self._reads.stream}" belongs before the last row of an earlier batch',
                    detail=f"rows are in order of {', '.join(self._columns)}, which is no time that could be waited for",
                    hint="push rows in this order, or let ORDER BY begin with a timestamp, date or integer, ascending",
                )
        self.last = rows.slice(last, 1)

    def load(self, last: pa.Table | None) -> None:
        """What a snapshot says of the last row."""
        if last is not None and (last.column_names != self._columns or last.num_rows != 1 or not self._columns):
            raise StateError("the snapshot is not valid", detail=f"a last row has the columns {', '.join(self._columns)}")
        if last is not None:
            self._order(last)  # of types that can be ordered
        self.last = last

    def _order(self, rows: pa.Table) -> np.ndarray | None:
        return sort_order({name: from_arrow(rows.column(name)) for name in self._columns}, self._reads)
