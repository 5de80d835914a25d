"""Files whose rows are counted as they are read, for the progress bar."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pyarrow as pa

from ostinato.cli.progress import Meter
from ostinato.hosts.confined.process import ConfinedDuckDB
from ostinato.hosts.embedded.sources.file_source import DatasetSource, files_source
from ostinato.hosts.embedded.sources.source import Source
from ostinato.program.input import Input


class WatchedSource(Source):
    """Does what the source of the files does, and tells the meter."""

    def __init__(self, name: str, path: str, meter: Meter) -> None:
        self.inner = files_source(name, [path])
        self.name = name
        self.schema = self.inner.schema
        self.meter = meter
        self.rows: int | None = None  # unknown until they have been read

    def ordered(self, reads: Input) -> Iterator[pa.Table]:
        return self._counted(self.inner.ordered(reads))

    def arriving(self, reads: Input) -> Iterator[pa.Table]:
        return self._counted(self.inner.arriving(reads))

    def make_view(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.inner.make_view(connection)

    def lend(self, confined: ConfinedDuckDB) -> None:
        self.inner.lend(confined)

    def _counted(self, tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        if isinstance(self.inner, DatasetSource):
            self.meter.expect(self.inner.dataset.count_rows())  # from the footers
        self.rows = 0
        for table in tables:
            yield table
            self.rows += table.num_rows
            self.meter.add(table.num_rows)
