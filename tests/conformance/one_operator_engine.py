"""All cases as buckets of one streaming query, for the slow run: hundreds of streaming queries would take an hour. What is around the
stateful operator, the sources and the calls of a user, is for `spark_stream_engine`.

Rows come in two micro-batches, then the watermark leaves all of them behind. What only the end of a stream decides is asked from the
stored state: emitted matches and those of the closed sessions make up the whole."""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import cloudpickle
from pyspark.sql import types as spark
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from tests.conformance.case import Case, Outcome
from tests.conformance.compiled_case import compiled
from tests.conformance.engines import table_found
from tests.conformance.spark_engines import spark_session

from ostinato.hosts.spark.ship_program import shipped
from ostinato.hosts.spark.streaming.bucket_processor import DECIDED_ON_SPARK, MATCHES, BucketProcessor
from ostinato.hosts.spark.streaming.buckets import bucket_of, label_of
from ostinato.hosts.spark.streaming.match_source import early_conditions
from ostinato.hosts.spark.streaming.match_stream import buckets_for, check_streamable, clock_of
from ostinato.hosts.spark.streaming.packed_rows import PACKED, PACKED_ON_SPARK
from ostinato.hosts.spark.streaming.packing import Packer, from_blobs
from ostinato.hosts.spark.streaming.stream_settings import ready_for_streams
from ostinato.hosts.spark.streaming.waiting import Waiting
from ostinato.hosts.spark.work import Work
from ostinato.tasks.shipped_program import ShippedProgram

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # Spark's workers do not see the tests

BUCKETS = 3
PER_CASE = 8  # buckets kept apart for a case
LATER_MS = 7_000_000_000_000
OUTPUT = spark.StructType(
    [*DECIDED_ON_SPARK.fields, spark.StructField("case", spark.LongType()), spark.StructField("error", spark.BinaryType())]
)


@dataclass(frozen=True)
class Streamed:
    """What a worker needs of a case."""

    program: ShippedProgram
    output: pa.Schema
    packer: Packer

    def processor(self) -> BucketProcessor:
        """Nothing but the watermark decides; times may be from before 1970."""
        return BucketProcessor(self.program, self.output, self.packer.buckets, self.packer.clock, Waiting(announced=1))


class OneState:
    """What Spark hands to a processor, for many of them: they have one state variable, and Spark tells their buckets apart."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._states: dict[str, Any] = {}

    def getValueState(self, name: str, schema: Any) -> Any:
        if name not in self._states:
            self._states[name] = self._handle.getValueState(name, schema)
        return self._states[name]

    def registerTimer(self, time: int) -> None:
        self._handle.registerTimer(time)

    def deleteTimer(self, time: int) -> None:
        self._handle.deleteTimer(time)


class AllCases(StatefulProcessor):
    """Hands every bucket to the processor of its case."""

    def __init__(self, cases: dict[int, Streamed]) -> None:
        self._cases = cases

    def init(self, handle: Any) -> None:
        self._one_state = OneState(handle)
        next(iter(self._cases.values())).processor().init(self._one_state)  # Spark wants to know all variables now

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        yield from self._of(key, lambda processor: processor.handleInputRows(key, rows, timerValues))

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:
        yield from self._of(key, lambda processor: processor.handleExpiredTimer(key, timerValues, expiredTimerInfo))

    def close(self) -> None:
        pass

    def _of(self, key: Any, go_on: Any) -> Iterator[pd.DataFrame]:
        number = bucket_of(key[0]) // PER_CASE
        if number not in self._cases:
            return
        case = self._cases[number]
        processor = case.processor()
        processor.init(self._one_state)
        try:
            for frame in go_on(processor):
                yield frame.assign(case=number, error=None)
        except Exception as error:
            nothing = {"matches": [None], "late_rows": [0], "row_count": [0], "shed": [0]}
            yield pd.DataFrame({**nothing, "case": [number], "error": [pickle.dumps(error)]})


def _moved(packed: pa.RecordBatch, places: int) -> pa.RecordBatch:
    """The same rows in buckets of their own among those of all cases."""
    labels = [label_of(bucket_of(label) + places) for label in packed.column("bucket").to_pylist()]
    return packed.set_column(0, packed.schema.field(0), pa.array(labels, pa.int32()))


class OneOperatorEngine:
    name = "spark streaming, one operator"

    def run(self, cases: Sequence[Case]) -> list[Outcome]:
        with tempfile.TemporaryDirectory() as folder:
            return _Run(cases, Path(folder)).outcomes()


class _Run:
    def __init__(self, cases: Sequence[Case], folder: Path) -> None:
        self.cases = cases
        self.folder = folder
        self.streamed: dict[int, Streamed] = {}
        self.failed: dict[int, Exception] = {}
        self.packed: tuple[list[pa.RecordBatch], list[pa.RecordBatch]] = ([], [])
        self.tables: dict[int, list[pa.Table]] = {}

    def outcomes(self) -> list[Outcome]:
        for number, case in enumerate(self.cases):
            try:
                self._prepare(number, case)
            except Exception as error:
                self.failed[number] = error
        self._write_input()
        self._stream()
        self._close_stored_sessions()
        return [self._outcome(number, case) for number, case in enumerate(self.cases)]

    def _prepare(self, number: int, case: Case) -> None:
        work = Work.of(compiled(case))
        check_streamable(work)
        (stream,) = work.streams
        early = early_conditions(work)
        packer = Packer.of(stream, work.division.keys_of(0), buckets_for(work, BUCKETS), clock_of(work), 0, 1).evaluating(early)
        table = case.table.select([column.name for column in stream.reads.columns])
        half = table.num_rows // 2
        for batch, rows in zip(self.packed, (table.slice(0, half), table.slice(half))):
            if rows.num_rows:
                batch.append(_moved(packer.pack(rows), number * PER_CASE))
        self.streamed[number] = Streamed(shipped(work.program if early is None else early.program), work.output, packer)
        self.tables[number] = [work.output.empty_table()]

    def _write_input(self) -> None:
        """The times of the blobs are all at the beginning, so that the watermark moves only with the last file."""
        (self.folder / "in").mkdir()
        time = PACKED.field("event_time").type
        told = (pa.array([0], pa.int32()), pa.array([0]))
        later = pa.array([LATER_MS * 1000]).cast(time)
        last = pa.table([pa.array([-1], pa.int32()), pa.array([b""], pa.binary()), later, *told], schema=PACKED)
        for number, batches in enumerate(self.packed):
            rows = pa.Table.from_batches(batches, schema=PACKED)
            rows = rows.set_column(2, PACKED.field(2), pa.array([0] * rows.num_rows, pa.int64()).cast(time))
            self._write(rows, number)
        self._write(last, 9)

    def _write(self, rows: pa.Table, number: int) -> None:
        file = self.folder / "in" / f"{number}.parquet"
        pq.write_table(rows, file)
        os.utime(file, (1_000_000 + number, 1_000_000 + number))  # a stream takes files in the order of their age

    def _stream(self) -> None:
        session = spark_session()
        ready_for_streams(session, BUCKETS)
        packed = session.readStream.schema(PACKED_ON_SPARK).option("maxFilesPerTrigger", 1).parquet(str(self.folder / "in"))
        rows = packed.withWatermark("event_time", "0 seconds").drop("event_time")
        decided = rows.groupBy("bucket").transformWithStateInPandas(AllCases(self.streamed), OUTPUT, "append", "eventTime")
        writer = decided.writeStream.format("memory").queryName("conformance").option("checkpointLocation", str(self.folder / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()
        for row in session.table("conformance").collect():
            if row.error is not None:
                self.failed[row.case] = pickle.loads(row.error)
            elif row[MATCHES] is not None:
                self.tables[row.case].append(from_blobs(iter([bytes(row[MATCHES])])))
        session.catalog.dropTempView("conformance")

    def _close_stored_sessions(self) -> None:
        reader = spark_session().read.format("statestore").option("stateVarName", "session")
        for row in reader.load(str(self.folder / "checkpoint")).collect():
            number = bucket_of(row.key.bucket) // PER_CASE
            self.tables[number].append(self.streamed[number].processor().closed(row.key.bucket, bytes(row.value.blob)))

    def _outcome(self, number: int, case: Case) -> Outcome:
        if number in self.failed:
            return Outcome(error=self.failed[number])
        return Outcome(found=table_found(case, pa.concat_tables(self.tables[number])))
