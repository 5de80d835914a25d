"""The changes of a log of rules as a stream beside the rows: Spark's offsets say which of them a micro-batch sees, also when it is run
again. Every bucket is told each of them; what they are it reads in the log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from ostinato.base.errors import StateError
from ostinato.hosts.spark.streaming.buckets import label_of
from ostinato.hosts.spark.streaming.packed_rows import EVENT_TIME, LATEST, PACKED, PACKED_ON_SPARK, ROWS, STREAM
from ostinato.hosts.spark.streaming.rule_log import LogEntry, RuleLog

FORMAT = "ostinato_rule_log"
RULES = -1  # in place of the number of a stream: a change of rules
Offset = dict[str, Any]


def rule_changes(spark: SparkSession, log: RuleLog, buckets: int) -> DataFrame:
    """In the columns of packed rows."""
    spark.dataSource.register(RuleSource)
    reader = spark.readStream.format(FORMAT).option("directory", log.directory).option("buckets", str(buckets))
    return reader.load()


class RuleSource(DataSource):
    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        return PACKED_ON_SPARK

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return RuleReader(RuleLog(self.options["directory"]), int(self.options["buckets"]))


class RuleReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, log: RuleLog, buckets: int) -> None:
        self._log = log
        self._buckets = buckets
        self._last: LogEntry | None = None

    def initialOffset(self) -> Offset:
        return _offset(self._log.first())

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        first = self._log.first()
        self._last = [first, *self._log.after(first)][-1]

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        seen = _entry(start)
        if self._last is not None:
            return _offset(self._last) if self._last.number > seen.number else start
        return _offset([seen, *self._log.after(seen)][-1])

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        seen, last = _entry(start), _entry(end)
        changes = self._log.after(seen, last.number)
        if changes and changes[-1] != last:
            hint = "a stream goes on with the log and the checkpoint that it was begun with"
            raise StateError(f"the rules in {self._log.directory} are not those that this stream has seen", hint=hint)
        return [InputPartition([(entry.number, entry.digest) for entry in changes])] if changes else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        yield told_to_all([LogEntry(*entry) for entry in partition.value], self._buckets)


def told_to_all(changes: Sequence[LogEntry], buckets: int) -> pa.RecordBatch:
    """As packed rows: a row per change and bucket."""
    count = len(changes) * buckets
    arrays = [
        pa.array([label_of(bucket) for _ in changes for bucket in range(buckets)], pa.int32()),
        pa.array([entry.digest.encode() for entry in changes for _ in range(buckets)], pa.binary()),
        pa.nulls(count, PACKED.field(EVENT_TIME).type),
        pa.array([RULES] * count, pa.int32()),
        pa.array([entry.number for entry in changes for _ in range(buckets)], pa.int64()),
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=PACKED)


def without_changes(frames: Sequence[pd.DataFrame]) -> tuple[list[pd.DataFrame], list[LogEntry]]:
    """The packed rows of streams, and the changes of rules that are told among them, in their order."""
    changes: set[LogEntry] = set()
    rows = []
    for frame in frames:
        told = frame[STREAM] == RULES
        if told.any():
            numbers, digests = frame.loc[told, LATEST].tolist(), frame.loc[told, ROWS]
            changes.update(LogEntry(int(number), bytes(digest).decode()) for number, digest in zip(numbers, digests, strict=True))
            frame = frame.loc[~told]
        rows.append(frame)
    return rows, sorted(changes, key=lambda entry: entry.number)


def _offset(entry: LogEntry) -> Offset:
    return {"change": entry.number, "digest": entry.digest}


def _entry(offset: Offset) -> LogEntry:
    return LogEntry(offset["change"], offset["digest"])
