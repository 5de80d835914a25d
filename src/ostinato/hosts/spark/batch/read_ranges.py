"""A DataFrame whose tasks are time ranges: each reads its row groups itself and gives back matches.

One row per range is mapped, rather than a Python data source read: both run the same way, but Spark starts Python processes to plan a
data source, which cost a query on small files more than its matching did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ostinato.hosts.spark.ship_program import shipped_functions
from ostinato.hosts.spark.types import to_spark_schema
from ostinato.tasks.ranges.range_job import RangeJob
from ostinato.tasks.ranges.range_task import read_range


def read_ranges(spark: SparkSession, job: RangeJob) -> DataFrame:
    text, functions = job.dumps(), shipped_functions(job.pattern)

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from read_range(text, number, functions)

    count = len(job.ranges)
    return spark.range(0, count, 1, count).mapInArrow(read, to_spark_schema(job.output))
