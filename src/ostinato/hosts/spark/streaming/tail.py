"""What a stream that has ended left undecided: its stored sessions, closed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from ostinato.base.errors import DataError, UnsupportedError
from ostinato.hosts.spark.types import to_spark_schema
from ostinato.tasks.conform import batches_of

Closed = Callable[[int, bytes], pa.Table]  # the matches of a bucket, by its label and its stored state


def tail_of(spark: SparkSession, checkpoint: str, closed: Closed, output: pa.Schema) -> DataFrame:
    """A batch. The stored state is read and not changed."""

    def close(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for label, blob in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
                yield from batches_of(closed(label, blob), output)

    stored = _stored(spark, checkpoint).selectExpr("key.bucket AS bucket", "value.blob AS blob")
    return stored.mapInArrow(close, to_spark_schema(output))


def _stored(spark: SparkSession, checkpoint: str) -> DataFrame:
    try:
        operators = spark.read.format("state-metadata").load(checkpoint).select("operatorId").distinct().count()
        if operators == 1:
            return spark.read.format("statestore").option("stateVarName", "session").load(checkpoint)
    except PySparkException as error:
        raise _no_state(checkpoint, str(error).splitlines()[0]) from error
    if operators == 0:
        raise _no_state(checkpoint, None)
    raise UnsupportedError(
        f"the stream at {checkpoint} has {operators} operators with state",
        hint="a tail is that of one query; where it reads matches of another, or windows, match a batch",
    )


def _no_state(checkpoint: str, detail: str | None) -> DataError:
    hint = "pass the checkpointLocation of a stream of this query, after its first micro-batch"
    return DataError(f"there is no stored state of a stream at {checkpoint}", detail=detail, hint=hint)
