"""Cases over several streams on Spark, through the calls of a user: as batches, and as streams of files, a micro-batch each."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from tests.conformance.case import Outcome, Rows
from tests.conformance.spark_engines import cause_of, spark_session
from tests.conformance.streams_case import StreamsCase

from ostinato.hosts.spark import on
from ostinato.hosts.spark.types import to_spark_schema


class SparkStreamsBatch:
    """`path` forces a way to divide the work."""

    def __init__(self, path: str | None) -> None:
        self.name = path or "spark"
        self.path = path

    def run(self, cases: Sequence[StreamsCase]) -> list[Outcome]:
        return [_attempt(self._found, case) for case in cases]

    def _found(self, case: StreamsCase, folder: Path) -> pa.Table:
        session = spark_session()
        frames = {}
        for name, table in case.tables.items():
            pq.write_table(table, folder / f"{name}.parquet", row_group_size=3)
            frames[name] = session.read.schema(to_spark_schema(table.schema)).parquet(str(folder / f"{name}.parquet"))
        found: pa.Table = on(session).match(case.text, language=case.language, path=self.path, streams=frames, **case.options).toArrow()
        return found


class SparkStreamsLive:
    """Each stream in two files; sources of our own, which end, so that the end decides what time has not."""

    name = "spark streaming"

    def run(self, cases: Sequence[StreamsCase]) -> list[Outcome]:
        return [_attempt(self._found, case) for case in cases]

    def _found(self, case: StreamsCase, folder: Path) -> pa.Table:
        session = spark_session()
        streams = {name: self._stream(name, table, folder) for name, table in case.tables.items()}
        frame = on(session).match(case.text, language=case.language, lateness=100, streams=streams, **case.options)
        name = f"streams_{os.getpid()}_{abs(hash(case.name))}"
        writer = frame.writeStream.format("memory").queryName(name).option("checkpointLocation", str(folder / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()
        found: pa.Table = session.table(name).toArrow()
        session.catalog.dropTempView(name)
        return found

    def _stream(self, name: str, table: pa.Table, folder: Path) -> Any:
        (folder / name).mkdir()
        half = (table.num_rows + 1) // 2
        for number, part in enumerate((table.slice(0, half), table.slice(half))):
            file = folder / name / f"{number}.parquet"
            pq.write_table(part, file)
            os.utime(file, (1_000_000 + number, 1_000_000 + number))
        return on(spark_session()).read_stream(str(folder / name), rows_per_batch=1, ends=True)


def _attempt(answer: Any, case: StreamsCase) -> Outcome:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = answer(case, Path(folder))
        except PySparkException as error:
            return Outcome(error=cause_of(error))
        except Exception as error:  # a crash is a finding, and is reported with its case
            return Outcome(error=error)
    return Outcome(found=Rows(tuple(table.column_names), tuple(tuple(row.values()) for row in table.to_pylist())))
