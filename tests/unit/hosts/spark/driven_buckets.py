"""The stateful operator without Spark: what Spark would give it, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa

from ostinato.hosts.spark.ship_program import shipped
from ostinato.hosts.spark.streaming import open_sessions
from ostinato.hosts.spark.streaming.bucket_processor import LATE, MATCHES, BucketProcessor
from ostinato.hosts.spark.streaming.match_source import early_conditions
from ostinato.hosts.spark.streaming.match_stream import buckets_for, clock_of
from ostinato.hosts.spark.streaming.packed_rows import BUCKET, EVENT_TIME, STREAM
from ostinato.hosts.spark.streaming.packing import Packer, from_blobs
from ostinato.hosts.spark.streaming.waiting import Waiting
from ostinato.hosts.spark.work import Work


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
    rules: StoredValue = field(default_factory=StoredValue)
    timers: set[int] = field(default_factory=set)

    def getValueState(self, name: str, schema: object) -> StoredValue:
        return self.rules if name == "rules" else self.state

    def registerTimer(self, time: int) -> None:
        self.timers.add(time)

    def deleteTimer(self, time: int) -> None:
        self.timers.discard(time)


class DrivenBuckets:
    """`waiting` as in `match_streams`. With a `delay` the watermark follows the rows, as Spark moves it; without, the caller moves it."""

    def __init__(self, work: Work, waiting: Waiting, buckets: int = 4, delay: int | None = None) -> None:
        self.work = work
        count, clock = buckets_for(work, buckets), clock_of(work)
        streams = work.streams
        packers = [Packer.of(stream, work.keys_of(n), count, clock, n, len(streams)) for n, stream in enumerate(streams)]
        early = early_conditions(work)
        self.packers = [replace(packer, lateness=waiting.lateness).evaluating(early) for packer in packers]
        self.processor = BucketProcessor(
            shipped(work.program if early is None else early.program),
            work.output,
            count,
            clock,
            waiting,
            is_set=work.is_set,
            quarantines=work.quarantines,
        )
        self.watermark = 0
        self.delay = delay
        self._latest = [0] * len(streams)
        self.late = 0
        self.buckets: dict[int, Bucket] = {}
        self._calls = 0

    def batch(self, *tables: pa.Table) -> list[dict]:
        """One table per stream, in the order of the work; a stream without rows has none."""
        return self._run([packer.pack(table) for packer, table in zip(self.packers, tables, strict=False) if table.num_rows])

    def end(self, *streams: int) -> list[dict]:
        """Of all streams, unless some are named."""
        return self._run([self.packers[number].end() for number in streams or range(len(self.packers))])

    def tail(self) -> list[dict]:
        """What would be decided if nothing came any more."""
        stored = [(label, bucket.state.value) for label, bucket in self.buckets.items() if bucket.state.value is not None]
        return [row for label, value in stored for row in self.processor.closed(label, value[0]).to_pylist()]

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
        if self.delay is not None:
            self._follow(packed)
        return found

    def _follow(self, packed: list[pa.RecordBatch]) -> None:
        """Spark's watermark is that of the stream that is farthest behind."""
        for batch in packed:
            latest = pa.compute.max(batch.column(EVENT_TIME).cast(pa.int64())).as_py()
            stream = batch.column(STREAM)[0].as_py()
            self._latest[stream] = max(self._latest[stream], 0 if latest is None else latest // 1000 - self.delay)
        self.watermark = max(self.watermark, min(self._latest))

    def _call(self, label: int, name: str, argument: object) -> list[dict]:
        self._calls += 1
        if self._calls % 2:
            open_sessions.forget()  # as if another worker had it: from what is stored, or from what was left open, all is the same
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
