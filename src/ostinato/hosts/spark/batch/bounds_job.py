"""Finds the times that row groups hold where the footers do not say: Spark writes INT96 timestamps by default, without statistics."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple

import pyarrow as pa
from pyspark.sql import SparkSession

from ostinato.archive.row_groups import ListedGroup, RowGroup, measure_bounds, place_without_time
from ostinato.hosts.spark.parallelism import parallelism
from ostinato.program.input import Input
from ostinato.runtime.rows.ingest import missing_time

FEW = 4  # row groups that the driver reads itself rather than start a job


def with_bounds(spark: SparkSession, groups: Sequence[ListedGroup], reads: Input) -> list[RowGroup]:
    """A row without a time, which a pattern within a time has no place for, is named here, where that costs nothing."""
    time = reads.time_name
    measured = _measured(spark, groups, time)
    for group in measured:
        if group.nulls:
            raise missing_time(time, reads.stream, place_without_time(group, time))
    return [bounded for group in measured if (bounded := group.bounded) is not None]


def _measured(spark: SparkSession, groups: Sequence[ListedGroup], time: str) -> list[ListedGroup]:
    unknown = [group for group in groups if group.bounded is None]
    if len(unknown) <= FEW:
        return measure_bounds(groups, time)
    found = {(group.file, group.number): group for group in _measured_by_tasks(spark, unknown, time)}
    return [found.get((group.file, group.number), group) for group in groups]


def _measured_by_tasks(spark: SparkSession, groups: Sequence[ListedGroup], time: str) -> list[ListedGroup]:
    rows = [(json.dumps(astuple(group)),) for group in groups]
    frame = spark.createDataFrame(rows, "piece string").repartition(min(len(rows), parallelism(spark)))

    def measure(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            pieces = [ListedGroup(*json.loads(text)) for text in batch.column(0).to_pylist()]
            measured = [json.dumps(astuple(group)) for group in measure_bounds(pieces, time)]
            yield pa.RecordBatch.from_arrays([pa.array(measured, pa.string())], names=["piece"])

    return [ListedGroup(*json.loads(row.piece)) for row in frame.mapInArrow(measure, "piece string").collect()]
