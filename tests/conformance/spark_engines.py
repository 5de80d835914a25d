"""Spark batch in the conformance suite. Many cases share one job: the output of a case becomes one row with an Arrow blob, and the
rows of all cases are united."""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from tests.conformance.case import Case, Outcome
from tests.conformance.engines import table_found

from ostinato.base import errors
from ostinato.hosts.spark import local, on
from ostinato.hosts.spark.streaming.packing import from_blobs, to_blob
from ostinato.hosts.spark.types import to_arrow_schema, to_spark_schema
from ostinato.tasks.ranges import time_ranges

CASES_PER_JOB = 40
_CAUSE = re.compile(r"ostinato\.base\.errors\.(\w+): (.*)")


def spark_session() -> SparkSession:
    """The one that there is: engines are run on sessions of several kinds."""
    return SparkSession.getActiveSession() or local(cores=2, **{"spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false"})


def cause_of(error: Exception) -> Exception:
    """The engine's own error, which Spark reports as text."""
    named = _CAUSE.search(str(error))
    return getattr(errors, named.group(1))(named.group(2)) if named else error


class SparkBatchEngine:
    """`path` forces a way to divide the work. Row groups and ranges are tiny, so that borders are many."""

    def __init__(self, name: str, path: str | None) -> None:
        self.name = name
        self.path = path

    def run(self, cases: Sequence[Case]) -> list[Outcome]:
        small = patch.multiple(time_ranges, SMALLEST_RANGE=1, ROWS_PER_RANGE=4, MOST_READ_TWICE=100)
        with small, tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes = []
            for start in range(0, len(cases), CASES_PER_JOB):
                outcomes += self._together(cases[start : start + CASES_PER_JOB], Path(folder), start)
            return outcomes

    def _together(self, cases: Sequence[Case], folder: Path, first: int) -> list[Outcome]:
        frames: dict[int, DataFrame] = {}
        failed: dict[int, Exception] = {}
        for number, case in enumerate(cases):
            try:
                frames[number] = self._frame(case, folder / f"{first + number}.parquet")
            except Exception as error:
                failed[number] = error
        tables = _collected(frames, failed)
        return [Outcome(error=failed[n]) if n in failed else Outcome(found=table_found(case, tables[n])) for n, case in enumerate(cases)]

    def _frame(self, case: Case, path: Path) -> DataFrame:
        pq.write_table(case.table, path, row_group_size=3)
        session = spark_session()
        given = {case.stream: session.read.schema(to_spark_schema(case.table.schema)).parquet(str(path))}
        return on(session).match(case.text, language=case.language, path=self.path, **case.options, **given)


def _collected(frames: dict[int, DataFrame], failed: dict[int, Exception]) -> dict[int, pa.Table]:
    """The tables of all cases. If one fails the job fails, and they are run one by one to see which."""
    tables = {number: to_arrow_schema(frame.schema).empty_table() for number, frame in frames.items()}
    try:
        tables.update(_blobs(frames))
    except PySparkException:
        for number, frame in frames.items():
            try:
                tables.update(_blobs({number: frame}))
            except PySparkException as error:
                failed[number] = cause_of(error)
    return tables


def _blobs(frames: dict[int, DataFrame]) -> dict[int, pa.Table]:
    parts = [frame.coalesce(1).mapInArrow(_as_blob(number), "case long, blob binary") for number, frame in frames.items()]
    rows = reduce(DataFrame.union, parts).collect() if parts else []
    return {row.case: from_blobs(iter([bytes(row.blob)])) for row in rows}


def _as_blob(number: int) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def gather(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = list(batches)
        if found:
            blob = to_blob(pa.Table.from_batches(found))
            yield pa.RecordBatch.from_arrays([pa.array([number]), pa.array([blob], pa.binary())], names=["case", "blob"])

    return gather
