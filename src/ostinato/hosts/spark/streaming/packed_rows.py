"""The columns of packed rows, as Arrow and Spark see them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyspark.sql import types as spark

BUCKET, ROWS, EVENT_TIME, STREAM, LATEST = "bucket", "rows", "event_time", "stream", "latest"
PACKED = pa.schema(
    [(BUCKET, pa.int32()), (ROWS, pa.binary()), (EVENT_TIME, pa.timestamp("us", tz="UTC")), (STREAM, pa.int32()), (LATEST, pa.int64())]
)
FOREVER = int(np.iinfo(np.int64).max)  # the latest time of a stream that has ended
PACKED_ON_SPARK = spark.StructType(
    [
        spark.StructField(BUCKET, spark.IntegerType(), True),
        spark.StructField(ROWS, spark.BinaryType(), True),
        spark.StructField(EVENT_TIME, spark.TimestampType(), True),
        spark.StructField(STREAM, spark.IntegerType(), True),
        spark.StructField(LATEST, spark.LongType(), True),
    ]
)
