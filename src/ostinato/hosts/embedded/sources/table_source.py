"""Rows that lie in memory as an Arrow table."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pyarrow as pa

from ostinato.hosts.confined.process import ConfinedDuckDB
from ostinato.hosts.embedded.sources.row_order import rows_in_order
from ostinato.hosts.embedded.sources.source import TABLE_ROWS, Source, in_slices
from ostinato.hosts.embedded.sources.stream_source import Readable
from ostinato.program.input import Input
from ostinato.runtime.rows.arrow_rows import without_views
from ostinato.runtime.rows.struct_fields import flattened


class TableSource(Source):
    def __init__(self, name: str, table: pa.Table) -> None:
        self.name = name
        self.table = without_views(table)
        self.schema = self.table.schema

    def ordered(self, reads: Input) -> Iterator[pa.Table]:
        needed = flattened(self.table, reads.columns)
        if reads.order and needed.num_rows:
            rows = rows_in_order(needed, reads)
            if rows is not None:
                needed = needed.take(pa.array(rows))
        yield from in_slices(needed, TABLE_ROWS)

    def arriving(self, reads: Input) -> Iterator[pa.Table]:
        yield from in_slices(flattened(self.table, reads.columns), TABLE_ROWS)

    def make_view(self, connection: duckdb.DuckDBPyConnection) -> None:
        with Readable(self.name):
            connection.register(self.name, self.table)

    def lend(self, confined: ConfinedDuckDB) -> None:
        confined.register(self.name, self.table)
