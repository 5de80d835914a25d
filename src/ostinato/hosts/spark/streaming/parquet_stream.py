"""A directory of Parquet files as a stream: new files are new rows, read by the tasks themselves and packed at once."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from ostinato.hosts.spark.batch.row_group_reader import read_columns
from ostinato.hosts.spark.batch.row_groups import open_file
from ostinato.hosts.spark.conform import batches_of
from ostinato.hosts.spark.streaming.clock import Clock
from ostinato.hosts.spark.streaming.file_list import FileList, Offset, files_after, latest_within
from ostinato.hosts.spark.streaming.packing import PACKED_ON_SPARK, ROWS, Packer, from_blobs
from ostinato.hosts.spark.types import to_spark_schema

FORMAT = "ostinato_parquet_stream"


@dataclass(frozen=True)
class ParquetStream:
    """What `read_stream` returns: pass it where a streaming DataFrame would stand. `rows_per_batch` limits a micro-batch."""

    path: str
    schema: pa.Schema
    rows_per_batch: int | None = None

    def packed(self, spark: SparkSession, columns: pa.Schema, packer: Packer) -> DataFrame:
        """The stream with its rows packed per bucket."""
        spark.dataSource.register(PackedParquetSource)
        reader = spark.readStream.format(FORMAT).option("directory", self.path)
        reader = reader.option("columns", base64.b64encode(columns.serialize().to_pybytes()).decode("ascii"))
        reader = reader.option("packer", json.dumps(asdict(packer)))
        if self.rows_per_batch is not None:
            reader = reader.option("rows_per_batch", str(self.rows_per_batch))
        return reader.load()


def rows_of(spark: SparkSession, stream: ParquetStream, time: str, clock: Clock) -> DataFrame:
    """The stream as a DataFrame of plain rows, for what is done to them before they are matched."""
    packed = stream.packed(spark, stream.schema, Packer(time, (), (0,), clock))

    def unpack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for blob in batch.column(batch.schema.get_field_index(ROWS)):
                yield from batches_of(from_blobs(iter([blob.as_py()])), stream.schema)

    return packed.mapInArrow(unpack, to_spark_schema(stream.schema))


class PackedParquetSource(DataSource):
    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        return PACKED_ON_SPARK

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return PackedParquetReader(dict(self.options))


class PackedParquetReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, options: dict[str, str]) -> None:
        self._files = FileList(options["directory"])
        self._columns = options["columns"]
        self._packer = options["packer"]
        self._limit = int(options["rows_per_batch"]) if "rows_per_batch" in options else None
        self._final: Offset | None = None

    def initialOffset(self) -> Offset:
        return {"changed": 0, "name": "", "files": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable() if self._limit is None else ReadMaxRows(self._limit)

    def prepareForTriggerAvailableNow(self) -> None:
        self._final = latest_within(self._files.present(), self.initialOffset(), None)

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        rows = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        return latest_within(self._files.present(), start, rows, self._final)

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        files = files_after(self._files.present(), start, end)
        return [InputPartition((file.path, number)) for file in files for number in range(file.row_groups())]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        path, number = partition.value
        columns = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(self._columns)))
        parts = json.loads(self._packer)
        packer = Packer(parts["time"], tuple(parts["keys"]), tuple(parts["labels"]), Clock(**parts["clock"]))
        with open_file(path) as opened:
            yield packer.pack(read_columns(opened, [number], columns))
