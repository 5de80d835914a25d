"""Reads row groups as one sequence of tables in the program's order, holding back only what later row groups may precede."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ostinato.archive.row_group_reader import RowGroupReader
from ostinato.archive.row_groups import RowGroup, times_of
from ostinato.program.input import Input
from ostinato.runtime.rows.ingest import missing_time


@dataclass(frozen=True)
class OrderedRows:
    """`schema` are the columns that the program reads, in the types that it was compiled for."""

    groups: tuple[RowGroup, ...]
    reads: Input
    schema: pa.Schema
    reader: RowGroupReader = field(default_factory=RowGroupReader)

    @property
    def time(self) -> str:
        return self.reads.columns[self.reads.time].name

    def between(self, low: int | None, high: int | None, *, again: bool = False) -> Iterator[pa.Table]:
        """Rows with low <= time < high in order, table by table. `again`: they will be asked for once more."""
        for table in self.pieces(low, high, again=again):
            yield in_order(table, self.reads)

    def pieces(self, low: int | None, high: int | None, *, again: bool = False, rows: Callable[[], int] = lambda: 0) -> Iterator[pa.Table]:
        """As `between`, without the order inside a table; every row of a table comes before every row of the next. `rows`, asked before
        each read, is how many would be welcome at once: row groups are read together up to that."""
        wanted = [group for group in self.groups if (low is None or group.high >= low) and (high is None or group.low < high)]
        wanted.sort(key=lambda group: (group.low, group.high))
        held: list[pa.Table] = []
        latest = None
        at = 0
        while at < len(wanted):
            group = wanted[at]
            together = [group] if again else self._together(wanted, at, rows(), low, high)
            at += len(together)
            table = self.reader.read_together(together, self.schema) if len(together) > 1 else self.reader.read(group, self.schema, again)
            held.append(self._clip(table, together, low, high))
            latest = max(one.high for one in together) if latest is None else max(latest, *(one.high for one in together))
            ready, held = self._release(held, wanted[at].low if at < len(wanted) else None, latest)
            if ready is not None and ready.num_rows:
                yield ready

    def _together(self, wanted: Sequence[RowGroup], at: int, rows: int, low: int | None, high: int | None) -> list[RowGroup]:
        """The row group at a place and those that may be read with it: of the same file, whole, and not read already."""
        chosen = [wanted[at]]
        read = chosen[0].rows
        for group in wanted[at + 1 :]:
            read += group.rows
            cut = (low is not None and group.low < low) or (high is not None and group.high >= high)
            if read > rows or cut or group.file != chosen[0].file or self.reader.keeps(group) or self.reader.keeps(chosen[0]):
                break
            chosen.append(group)
        return chosen

    def _clip(self, table: pa.Table, groups: Sequence[RowGroup], low: int | None, high: int | None) -> pa.Table:
        column = times_of(table.column(self.time))
        if column.null_count:
            raise missing_time(self.time, self.reads.stream, f" in {groups[0].file}")
        inside = None
        if low is not None and any(group.low < low for group in groups):
            inside = pc.greater_equal(column, low)
        if high is not None and any(group.high >= high for group in groups):
            below = pc.less(column, high)
            inside = below if inside is None else pc.and_(inside, below)
        return table if inside is None else table.filter(inside)

    def _release(self, held: list[pa.Table], until: int | None, latest: int) -> tuple[pa.Table | None, list[pa.Table]]:
        """What no later row group can precede, and what must wait. No row is later than `latest`."""
        table = pa.concat_tables(held) if len(held) > 1 else held[0]
        if until is None or latest < until or not table.num_rows:
            return table, []
        ready = pc.less(times_of(table.column(self.time)), until)
        return table.filter(ready), [table.filter(pc.invert(ready))]


def in_order(table: pa.Table, reads: Input) -> pa.Table:
    """Sorted by the program's order, ties as they stand. Mostly the rows are in order already, and a look is cheaper than a sort."""
    keys = [(reads.columns[column].name, descending, nulls_first) for column, descending, nulls_first in reads.order]
    if table.num_rows < 2 or not keys:
        return table
    if len(keys) == 1 and not keys[0][1]:
        times = times_of(table.column(keys[0][0])).to_numpy()
        if np.all(times[1:] >= times[:-1]):
            return table
        return table.take(np.argsort(times, kind="stable"))
    return table.take(stable_order(table, keys))


def stable_order(table: pa.Table, keys: Sequence[tuple[str, bool, bool]]) -> pa.Array:
    """Positions in sorted order. Every key has its own place for nulls, so each brings a column that says where they go."""
    columns: dict[str, pa.ChunkedArray | pa.Array] = {}
    order = []
    for i, (name, descending, nulls_first) in enumerate(keys):
        column = table.column(name)
        columns[f"null{i}"] = pc.is_null(column).cast(pa.int8())
        columns[f"key{i}"] = column
        order += [(f"null{i}", "descending" if nulls_first else "ascending"), (f"key{i}", "descending" if descending else "ascending")]
    columns["position"] = pa.array(np.arange(table.num_rows))
    order.append(("position", "ascending"))
    return pc.sort_indices(pa.table(columns), sort_keys=order)
