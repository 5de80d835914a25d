"""The stateful operator without Spark: what Spark would give it, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa

from ostinato.hosts.spark.streaming.bucket_processor import LATE, MATCHES, BucketProcessor
from ostinato.hosts.spark.streaming.match_stream import packer_of
from ostinato.hosts.spark.streaming.packing import BUCKET, EVENT_TIME, from_blobs
from ostinato.hosts.spark.streaming.waiting import Waiting
from ostinato.hosts.spark.work import Work
from ostinato.program import serde
from ostinato.program.program import alone
from ostinato.query import Query


class StoredValue:
    def __init__(self) -> None:
        self.value: tuple | None = None

    def exists(self) -> bool:
        return self.value is not None

    def get(self) -> tuple | None:
        return self.value

    def update(self, value: tuple) -> None:
        self.value = value


@dataclass
class Bucket:
    """What Spark keeps of one key."""

    state: StoredValue = field(default_factory=StoredValue)
    timers: set[int] = field(default_factory=set)

    def getValueState(self, name: str, schema: object) -> StoredValue:
        return self.state

    def registerTimer(self, time: int) -> None:
        self.timers.add(time)

    def deleteTimer(self, time: int) -> None:
        self.timers.discard(time)


class DrivenBuckets:
    """`waiting` as in `match_packed`. With a `delay` the watermark follows the rows, as Spark moves it; without, the caller moves it.
    `lateness` is that of several streams."""

    def __init__(self, query: Query, waiting: Waiting, buckets: int = 4, delay: int | None = None, lateness: int | None = None) -> None:
        self.packer = replace(packer_of(Work.of(query), buckets), lateness=lateness if waiting.lateness is None else waiting.lateness)
        self.processor = BucketProcessor(serde.dumps(alone(query.pattern)), Work.of(query).output, self.packer, waiting)
        self.watermark = 0
        self.delay = delay
        self.late = 0
        self.buckets: dict[int, Bucket] = {}

    def batch(self, *tables: pa.Table) -> list[dict]:
        """One table per stream; a stream without rows has none."""
        return self._run(self._packed(tables))

    def end(self) -> list[dict]:
        return self._run([self.packer.end()])

    def _packed(self, tables: tuple[pa.Table, ...]) -> list[pa.RecordBatch]:
        packers = [replace(self.packer, stream=number, streams=len(tables)) for number in range(len(tables))]
        return [packer.pack(table) for packer, table in zip(packers, tables, strict=True) if table.num_rows]

    def _run(self, packed: list[pa.RecordBatch]) -> list[dict]:
        found: list[dict] = []
        if packed:
            rows = pa.Table.from_batches(packed)
            for label, frame in rows.drop([EVENT_TIME]).to_pandas().groupby(BUCKET):
                found += self._call(label, "handleInputRows", iter([frame]))
        for label, bucket in list(self.buckets.items()):
            for time in [time for time in bucket.timers if time <= self.watermark]:
                bucket.timers.discard(time)
                found += self._call(label, "handleExpiredTimer", SimpleNamespace(getExpiryTimeInMs=lambda time=time: time))
        if packed and self.delay is not None:
            latest = max(
                pa.compute.max(table.column(EVENT_TIME).cast(pa.int64())).as_py() for table in map(pa.Table.from_batches, [packed])
            )
            self.watermark = max(self.watermark, 0 if latest is None else latest // 1000 - self.delay)
        return found

    def _call(self, label: int, name: str, argument: object) -> list[dict]:
        bucket = self.buckets.setdefault(label, Bucket())
        self.processor.init(bucket)
        timer_values = SimpleNamespace(getCurrentWatermarkInMs=lambda: self.watermark)
        arguments = (argument, timer_values) if name == "handleInputRows" else (timer_values, argument)
        found: list[dict] = []
        for frame in getattr(self.processor, name)((label,), *arguments):
            assert isinstance(frame, pd.DataFrame)
            self.late += int(frame[LATE].sum())
            found += from_blobs(iter(frame[MATCHES])).to_pylist()
        return found
