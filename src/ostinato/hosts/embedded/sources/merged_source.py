"""Several streams read as one, in order of time: a few batches of each are in memory at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from ostinato.hosts.embedded.sources.source import RowSource, Source
from ostinato.kernels.vectors.vector import from_arrow
from ostinato.program.input import Input
from ostinato.program.input import Source as StreamSource
from ostinato.runtime.rows.ingest import MissingTimeError
from ostinato.runtime.rows.stream_form import in_form, own_columns

LAST = np.iinfo(np.int64).max


class MergedSource(RowSource):
    """The sources of an input, each with its rows. Simultaneous rows stand in the order of the sources."""

    def __init__(self, merged: Input, sources: Mapping[str, Source]) -> None:
        self._parts = [(part, sources[part.stream.lower()]) for part in merged.sources]

    def ordered(self, reads: Input) -> Iterator[pa.Table]:
        readers = [source.ordered(reading_of(part, source.name, reads)) for part, source in self._parts]
        return self._merged(reads, readers, _Clock)

    def arriving(self, reads: Input) -> Iterator[pa.Table]:
        """Streams that run side by side: each row comes when the latest time of its own stream has been reached."""
        readers = [source.arriving(reading_of(part, source.name, reads)) for part, source in self._parts]
        return self._merged(reads, readers, _LatestSoFar)

    def missing_time(self, reads: Input) -> MissingTimeError:
        errors = [source.missing_time(reading_of(part, source.name, reads)) for part, source in self._parts]
        return next((error for error in errors if "(row " in error.message), errors[0])

    def _merged(self, reads: Input, readers: Sequence[Iterator[pa.Table]], clock: type[_Clock]) -> Iterator[pa.Table]:
        inputs = [
            _Input(_formed(reader, part, reads), reads.time_name, clock()) for reader, (part, _) in zip(readers, self._parts, strict=True)
        ]
        return _in_turn(inputs)


def _formed(tables: Iterator[pa.Table], part: StreamSource, reads: Input) -> Iterator[pa.Table]:
    for table in tables:
        yield in_form(table, part, reads.columns)


def reading_of(part: StreamSource, name: str, reads: Input) -> Input:
    """What is read of one stream: its own columns, in order of its own time."""
    own = own_columns(part, reads.columns)
    time = own[reads.time_name]
    listed = tuple({**{column.name: column for column in own.values()}, time.name: time}.values())
    number = listed.index(time)
    return Input(name, listed, time=number, order=((number, False, False),), null_keys=reads.null_keys)


class _Clock:
    """The times as they are."""

    def __call__(self, times: np.ndarray) -> np.ndarray:
        return times


class _LatestSoFar(_Clock):
    def __init__(self) -> None:
        self.latest = np.iinfo(np.int64).min

    def __call__(self, times: np.ndarray) -> np.ndarray:
        reached = np.maximum(np.maximum.accumulate(times), self.latest)
        self.latest = int(reached[-1])
        return reached


class _Input:
    """One stream: the rows that have been read and not yet given on, with the times that decide when they are."""

    def __init__(self, tables: Iterator[pa.Table], time: str, clock: _Clock) -> None:
        self._tables = tables
        self._time = time
        self._clock = clock
        self.rows: pa.Table | None = None
        self.times = np.empty(0, np.int64)
        self.ended = False
        self.read()

    def read(self) -> None:
        """One more batch."""
        for table in self._tables:
            if table.num_rows:
                times = self._clock(_numbers(table.column(self._time)))
                self.rows = table if self.rows is None else pa.concat_tables([self.rows, table])
                self.times = np.concatenate([self.times, times])
                return
        self.ended = True

    @property
    def reached(self) -> int:
        """Rows before this time are all here."""
        return LAST if self.ended else int(self.times[-1])

    def take_before(self, time: int) -> tuple[pa.Table, np.ndarray] | None:
        end = len(self.times) if time == LAST else int(np.searchsorted(self.times, time, side="left"))
        if self.rows is None or end == 0:
            return None
        taken = self.rows.slice(0, end), self.times[:end]
        self.rows, self.times = self.rows.slice(end), self.times[end:]
        return taken


def _in_turn(inputs: Sequence[_Input]) -> Iterator[pa.Table]:
    while True:
        bound = min(one.reached for one in inputs)
        taken = [part for one in inputs if (part := one.take_before(bound)) is not None]
        if taken:
            order = np.argsort(np.concatenate([times for _, times in taken]), kind="stable")
            yield pa.concat_tables([rows for rows, _ in taken]).take(pa.array(order))
        if bound == LAST:
            return
        for one in inputs:
            if one.reached == bound:
                one.read()


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    """Rows without a time come last: whoever reads them says what is wrong with them."""
    vector = from_arrow(column)
    times = vector.data.astype(np.int64, copy=False)
    return times if vector.valid is None else np.where(vector.valid, times, LAST)
