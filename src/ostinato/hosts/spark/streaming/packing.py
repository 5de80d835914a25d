"""Rows packed to Arrow IPC blobs per bucket, before the shuffle: Spark then moves a few large values in place of many rows."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ostinato.archive.row_groups import times_of
from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.hosts.spark.streaming.buckets import buckets_of, label_of
from ostinato.hosts.spark.streaming.clock import Clock
from ostinato.hosts.spark.streaming.packed_rows import EVENT_TIME, FOREVER, PACKED, ROWS, STREAM
from ostinato.runtime.rows.reorder import NEVER
from ostinato.tasks.conform import conform
from ostinato.tasks.early_conditions import EarlyConditions, loaded
from ostinato.tasks.graph_division import StreamKey
from ostinato.tasks.outside_streams import OutsideStream
from ostinato.tasks.quiet_rows import SentRows


@dataclass(frozen=True)
class Packer:
    """Into how many `buckets` rows are divided, by which columns (none: all are in the first), which are compared in the types of
    `key_types`, an Arrow schema as text ("": in their own); `clock` says what a time means to Spark. `lateness` is that of the
    stream, where it is known, and `stream` its number among the `streams` of the query. `early`, a program as text: the conditions of
    situations that are evaluated here."""

    time: str
    keys: tuple[str, ...]
    buckets: int
    clock: Clock
    lateness: int | None = None
    stream: int = 0
    streams: int = 1
    key_types: str = ""
    early: str = ""

    @staticmethod
    def of(stream: OutsideStream, keys: Sequence[StreamKey], buckets: int, clock: Clock, number: int, streams: int) -> Packer:
        types = pa.schema([pa.field(key.column, to_arrow(key.type)) for key in keys])
        encoded = base64.b64encode(types.serialize().to_pybytes()).decode("ascii")
        return Packer(stream.time, tuple(types.names), buckets, clock, None, number, streams, encoded)

    def evaluating(self, conditions: EarlyConditions | None) -> Packer:
        return self if conditions is None else replace(self, early=base64.b64encode(conditions.dumps()).decode("ascii"))

    def dumps(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def loads(text: str) -> Packer:
        parts = json.loads(text)
        return Packer(**(parts | {"keys": tuple(parts["keys"]), "clock": Clock(**parts["clock"])}))

    def pack(self, table: pa.Table) -> pa.RecordBatch:
        """One row per bucket. `event_time` is the latest in the blob: it is what moves Spark's watermark. `latest` is that of all rows
        here, in the engine's unit."""
        latest = pc.max(times_of(table.column(self.time))).as_py()
        parts = self._divided(_in_utc(table), to_all=self._is_told_to_all(latest))
        times = [self.clock.to_spark(pc.max(times_of(part.column(self.time))).as_py() if part.num_rows else latest) for _, part in parts]
        arrays = [
            pa.array([label_of(bucket) for bucket, _ in parts], pa.int32()),
            pa.array([self._blob(part) for _, part in parts], pa.binary()),
            pa.array(times, pa.int64()).cast(PACKED.field(EVENT_TIME).type),
            pa.array([self.stream] * len(parts), pa.int32()),
            pa.array([NEVER if latest is None else latest] * len(parts), pa.int64()),
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=PACKED)

    def _blob(self, table: pa.Table) -> bytes:
        """Rows at which nothing changes are left out where it is known up to where others may come between: behind them in the blob are
        their times."""
        if not self.early:
            return to_blob(table)
        stream = loaded(base64.b64decode(self.early)).streams[self.stream]
        sent = stream.sent(table, leaves_out=self.lateness is not None and self.streams == 1)
        return to_blob(sent.rows) + (b"" if sent.quiet is None else to_blob(sent.quiet))

    def end(self) -> pa.RecordBatch:
        """That no rows come any more, for every bucket."""
        arrays = [
            pa.array([label_of(bucket) for bucket in range(self.buckets)], pa.int32()),
            pa.nulls(self.buckets, pa.binary()),
            pa.nulls(self.buckets, PACKED.field(EVENT_TIME).type),
            pa.array([self.stream] * self.buckets, pa.int32()),
            pa.array([FOREVER] * self.buckets, pa.int64()),
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=PACKED)

    def _is_told_to_all(self, latest: int | None) -> bool:
        """Spark's watermark tells every bucket how far a stream has come, but it begins in 1970: before, the blobs do. Of several streams
        one may be before and others after."""
        return latest is not None and self.lateness is not None and (self.streams > 1 or latest - self.lateness <= 0)

    def _divided(self, table: pa.Table, to_all: bool) -> list[tuple[int, pa.Table]]:
        """The first bucket is always among them, with or without rows: so every micro-batch sees a stored state, and stops if that is of
        another query or of another number of buckets."""
        if self.buckets == 1:
            return [(0, table)]
        numbers = buckets_of(self._compared_keys(table), self.keys, self.buckets)
        grouped = table.take(np.argsort(numbers, kind="stable"))
        ends = np.cumsum(np.bincount(numbers, minlength=self.buckets))
        starts = np.concatenate([[0], ends[:-1]])
        return [(b, grouped.slice(starts[b], ends[b] - starts[b])) for b in range(self.buckets) if to_all or b == 0 or ends[b] > starts[b]]

    def _compared_keys(self, table: pa.Table) -> pa.Table:
        """Columns of several streams are compared in one type: equal values have to be in one bucket."""
        if not self.keys or not self.key_types:
            return table
        return conform(table.select(self.keys), pa.ipc.read_schema(pa.py_buffer(base64.b64decode(self.key_types))))


def _in_utc(table: pa.Table) -> pa.Table:
    """Spark shows times in the zone of the session. Rows can wait in the stored state, for a session with another one."""
    for place, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type) and field.type.tz not in (None, "UTC"):
            utc = pa.timestamp(field.type.unit, "UTC")
            table = table.set_column(place, field.with_type(utc), table.column(place).cast(utc))
    return table


def to_blob(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def by_stream(frames: Sequence[pd.DataFrame]) -> dict[int, list[SentRows]]:
    """The rows that came, of each stream that has some, in the order of the streams."""
    sent: dict[int, list[SentRows]] = {}
    for frame in frames:
        for stream, blob in zip(frame[STREAM].tolist(), frame[ROWS], strict=True):
            if blob is not None:
                sent.setdefault(stream, []).append(_sent_rows(blob))
    return {stream: sent[stream] for stream in sorted(sent)}


def _sent_rows(blob: bytes) -> SentRows:
    source = pa.BufferReader(blob)
    rows = pa.ipc.open_stream(source).read_all()
    return SentRows(rows, pa.ipc.open_stream(source).read_all() if source.tell() < source.size() else None)


def from_blobs(blobs: Iterator[bytes | None]) -> pa.Table | None:
    tables = [pa.ipc.open_stream(blob).read_all() for blob in blobs if blob is not None]
    return pa.concat_tables(tables) if tables else None
