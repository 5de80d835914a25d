"""What Spark costs before anything is matched: jobs of the same shape as ours whose Python side does nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

FORMAT = "do_nothing_parquet"
COUNT = "rows long"


class DoNothingSource(DataSource):
    """Reads the given columns of all row groups and yields how many rows there were; or, as sources do, the rows."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return self.options["schema"]

    def reader(self, schema: object) -> DataSourceReader:
        hands_on = self.options["schema"] != COUNT
        return DoNothingReader(self.options["files"].split("|"), self.options["columns"].split("|"), int(self.options["tasks"]), hands_on)


class DoNothingReader(DataSourceReader):
    def __init__(self, files: Sequence[str], columns: Sequence[str], tasks: int, hands_on: bool) -> None:
        self.files = files
        self.columns = columns
        self.tasks = tasks
        self.hands_on = hands_on

    def partitions(self) -> Sequence[InputPartition]:
        groups = [(file, number) for file in self.files for number in range(pq.ParquetFile(file).num_row_groups)]
        size = -(-len(groups) // self.tasks)
        return [InputPartition(groups[start : start + size]) for start in range(0, len(groups), size)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        rows = 0
        for file, number in partition.value:
            table = pq.ParquetFile(file, memory_map=True).read_row_group(number, columns=list(self.columns), use_threads=False)
            rows += table.num_rows
            if self.hands_on:
                yield from table.select(list(self.columns)).to_batches(max_chunksize=1 << 16)
        if not self.hands_on:
            yield pa.RecordBatch.from_arrays([pa.array([rows])], names=["rows"])


def read_and_do_nothing(spark: SparkSession, files: Sequence[str], columns: Sequence[str], tasks: int, schema: str = COUNT) -> DataFrame:
    """`schema`: that of the columns, if their rows are to be handed on."""
    spark.dataSource.register(DoNothingSource)
    given = {"files": "|".join(files), "columns": "|".join(columns), "tasks": str(tasks), "schema": schema}
    return spark.read.format(FORMAT).options(**given).load()


def map_and_do_nothing(frame: DataFrame) -> DataFrame:
    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = sum(batch.num_rows for batch in batches)
        yield pa.RecordBatch.from_arrays([pa.array([rows])], names=["rows"])

    return frame.mapInArrow(count, "rows long")
