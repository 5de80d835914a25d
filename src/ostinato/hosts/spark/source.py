"""What a query may be given on Spark: a DataFrame, a table or view by name, Parquet files by path, or a directory as a stream."""

from __future__ import annotations

import re
from typing import TypeGuard

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.utils import AnalysisException

from ostinato.base.errors import DataError, SchemaError, UnknownNameError
from ostinato.hosts.spark.streaming.parquet_stream import ParquetStream
from ostinato.hosts.spark.types import left_out, to_arrow_schema

Source = DataFrame | ParquetStream

_PATH = re.compile(r"[/\\*?]|\.parquet$|\.csv$|\.json$|^\.")


def resolve(spark: SparkSession, name: str, given: object) -> Source:
    """A string is a path if it looks like one, else the name of a table or view."""
    if isinstance(given, DataFrame | ParquetStream):
        return given
    if isinstance(given, str):
        return read_path(spark, given) if _PATH.search(given) else table(spark, given)
    if hasattr(given, "__fspath__"):
        return read_path(spark, str(given))
    raise SchemaError(
        f"stream {name!r} is a {type(given).__name__}", hint="on Spark pass a DataFrame, the name of a table or view, or a path to files"
    )


def read_path(spark: SparkSession, path: str) -> DataFrame:
    try:
        if path.endswith(".csv"):
            return spark.read.csv(path, header=True, inferSchema=True)
        return spark.read.json(path) if path.endswith(".json") else spark.read.parquet(path)
    except AnalysisException as error:
        detail = str(error).splitlines()[0]
        hint = "is the path right, and are the files Parquet?"
        if "NANOS" in detail:
            hint = "Spark reads no nanoseconds: write the files with microseconds, or read them with spark.sql.legacy.parquet.nanosAsLong"
        raise DataError(f"cannot read {path}", detail=detail, hint=hint) from error


def table(spark: SparkSession, name: str) -> DataFrame:
    try:
        return spark.table(name)
    except AnalysisException as error:
        raise UnknownNameError(
            f"there is no table or view {name!r}",
            detail=str(error).splitlines()[0],
            hint=f"register it with df.createOrReplaceTempView(...); a path to files has a slash in it: {'./' + name!r}",
        ) from error


def schema_of(source: Source) -> pa.Schema:
    """For a query to be compiled: columns that Arrow has no type for stand in it as something that is refused where it is needed."""
    if isinstance(source, ParquetStream):
        return source.schema
    known = to_arrow_schema(source.schema)
    strange = [(field.name, pa.sparse_union([pa.field(field.dataType.simpleString(), pa.null())])) for field in left_out(source.schema)]
    return pa.schema([*known, *(pa.field(name, kind) for name, kind in strange)])


def is_batch(source: Source) -> TypeGuard[DataFrame]:
    return not isinstance(source, ParquetStream) and not source.isStreaming
