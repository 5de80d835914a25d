"""The Spark data source whose partitions are time ranges: each task reads its row groups and yields matches as Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from ostinato.hosts.spark.batch.range_job import RangeJob
from ostinato.hosts.spark.batch.range_task import run_range
from ostinato.hosts.spark.conform import reported
from ostinato.hosts.spark.types import to_spark_schema

FORMAT = "ostinato_ranges"


class RangeSource(DataSource):
    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        return to_spark_schema(RangeJob.loads(self.options["job"]).output)

    def reader(self, schema: StructType) -> DataSourceReader:
        return RangeReader(self.options["job"])


class RangeReader(DataSourceReader):
    def __init__(self, job: str) -> None:
        self.job = job

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(number) for number in range(len(RangeJob.loads(self.job).ranges))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        job = RangeJob.loads(self.job)
        yield from reported(run_range(job, job.ranges[partition.value]), job.program, job.output, partition.value)


def read_ranges(spark: SparkSession, job: RangeJob) -> DataFrame:
    spark.dataSource.register(RangeSource)
    return spark.read.format(FORMAT).option("job", job.dumps()).load()
