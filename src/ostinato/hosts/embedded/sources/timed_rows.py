"""Rows for a query in the sandbox: given in small batches, as long as there is time."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from ostinato.hosts.embedded.sources.source import RowSource, in_slices
from ostinato.hosts.sandbox import BATCH_ROWS, Watch
from ostinato.program.input import Input
from ostinato.runtime.rows.ingest import MissingTimeError


class TimedRows(RowSource):
    def __init__(self, inner: RowSource, watch: Watch) -> None:
        self.inner = inner
        self.watch = watch

    def ordered(self, reads: Input) -> Iterator[pa.Table]:
        return self._timed(self.inner.ordered(reads))

    def arriving(self, reads: Input) -> Iterator[pa.Table]:
        return self._timed(self.inner.arriving(reads))

    def missing_time(self, reads: Input) -> MissingTimeError:
        return self.inner.missing_time(reads)

    def _timed(self, tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        for table in tables:
            for part in in_slices(table, BATCH_ROWS):
                self.watch.check()
                yield part
        self.watch.check()
