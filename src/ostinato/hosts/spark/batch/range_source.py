"""The Spark data source whose partitions are time ranges: each task reads its row groups and yields matches as Arrow.

Spark starts short-lived Python processes to plan a source. They import this module and nothing heavy: what runs a range is imported
by the tasks alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "ostinato_ranges"


class RangeSource(DataSource):
    @classmethod
    def name(cls) -> str:
        return FORMAT

    def reader(self, schema: StructType) -> DataSourceReader:
        return RangeReader(self.options["job"], int(self.options["ranges"]))


class RangeReader(DataSourceReader):
    def __init__(self, job: str, ranges: int) -> None:
        self.job = job
        self.ranges = ranges

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(number) for number in range(self.ranges)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from ostinato.hosts.spark.batch.range_task import read_range

        yield from read_range(self.job, partition.value)


def read_ranges(spark: SparkSession, job: str, ranges: int, schema: StructType) -> DataFrame:
    spark.dataSource.register(RangeSource)
    return spark.read.format(FORMAT).schema(schema).option("job", job).option("ranges", str(ranges)).load()
