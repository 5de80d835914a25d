"""A directory of Parquet files as a stream: new files are new rows, read by the tasks themselves and packed at once."""

from __future__ import annotations

import base64
import importlib
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from ostinato.archive.file_columns import check_columns
from ostinato.archive.row_group_reader import read_columns
from ostinato.archive.row_groups import open_file
from ostinato.base.errors import DataError, UnsupportedError
from ostinato.hosts.spark.streaming.file_list import FileList
from ostinato.hosts.spark.streaming.packed_rows import PACKED_ON_SPARK
from ostinato.hosts.spark.streaming.planned_files import FilePlanner, Footer, Offset, Plan, PlannedFile, check_unchanged

if TYPE_CHECKING:
    from ostinato.hosts.spark.streaming.packing import Packer

FORMAT = "ostinato_parquet_stream"


@dataclass(frozen=True)
class ParquetStream:
    """What `read_stream` returns: pass it where a streaming DataFrame would stand. `rows_per_batch` limits a micro-batch. `repaired`:
    files that were planned or taken may have changed since, or be gone. `ends`: behind the last file nothing comes any more."""

    path: str
    schema: pa.Schema
    rows_per_batch: int | None = None
    repaired: bool = False
    ends: bool = False

    def packed(self, spark: SparkSession, columns: pa.Schema, packer: Packer) -> DataFrame:
        """The stream with its rows packed per bucket."""
        spark.dataSource.register(PackedParquetSource)
        reader = spark.readStream.format(FORMAT).option("directory", self.path)
        reader = reader.option("columns", base64.b64encode(columns.serialize().to_pybytes()).decode("ascii"))
        reader = reader.option("packer", packer.dumps())
        if self.rows_per_batch is not None:
            reader = reader.option("rows_per_batch", str(self.rows_per_batch))
        if self.repaired:
            reader = reader.option("repaired", "true")
        if self.ends:
            reader = reader.option("ends", "true")
        return reader.load()


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
        self._columns = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(options["columns"])))
        self._packer = options["packer"]
        self._limit = int(options["rows_per_batch"]) if "rows_per_batch" in options else None
        self._planner = FilePlanner(self._files, self._footer, "repaired" in options, "ends" in options)
        self._among: frozenset[str] | None = None

    def initialOffset(self) -> Offset:
        return Plan().offset()

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable() if self._limit is None else ReadMaxRows(self._limit)

    def prepareForTriggerAvailableNow(self) -> None:
        self._among = frozenset(file.name for file in self._files.present())

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        if self._planner.ends and self._among is None:
            hint = "use trigger(availableNow=True), or leave out ends=True"
            raise UnsupportedError("a stream that ends=True has to be run to its end", hint=hint)
        rows = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        return self._planner.next(Plan.of(start), rows, self._among).offset()

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        files = self._planner.between(Plan.of(start), Plan.of(end))
        if end["ended"] and not start["ended"]:
            return [InputPartition(None)]
        return [InputPartition((astuple(file), number)) for file in files for number in range(file.row_groups)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if partition.value is None:
            yield _packer(self._packer).end()
            return
        values, number = partition.value
        file = PlannedFile(*values)
        check_unchanged(self._files, file)
        path = self._files.path(file.name)
        with open_file(path) as opened:
            try:
                rows = read_columns(opened, [number], self._columns)
            except (OSError, pa.ArrowInvalid) as error:
                raise DataError(f"cannot read row group {number} of {path}", detail=str(error)) from error
        yield _packer(self._packer).pack(rows)

    def _footer(self, path: str) -> Footer:
        with open_file(path) as opened:
            check_columns(opened, path, self._columns)
            return Footer(opened.metadata.num_rows, opened.metadata.num_row_groups)


def _packer(text: str) -> Packer:
    """Spark plans a stream in half a dozen Python processes, none of which packs: what packs takes each of them half a second to load."""
    found: Packer = importlib.import_module("ostinato.hosts.spark.streaming.packing").Packer.loads(text)
    return found
