"""What kind of session it is, and how many tasks it runs at a time."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

_SEEN: WeakKeyDictionary[object, int] = WeakKeyDictionary()
_ENOUGH_ROWS = 1 << 16


def is_connect(spark: object) -> bool:
    """Whether the session is a client of Spark Connect, which has no context and no JVM to ask. Its class has no common base with that
    of other sessions, and loading it would need packages that others can do without."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def is_local(spark: SparkSession) -> bool:
    """Whether tasks run on this machine, in processes of this session."""
    return not is_connect(spark) and (spark.sparkContext.master or "").startswith("local")


def parallelism(spark: SparkSession) -> int:
    """A client of Spark Connect asks once: a range has a partition for each task that the server would run."""
    if not is_connect(spark):
        return spark.sparkContext.defaultParallelism
    if spark not in _SEEN:
        places = spark.range(_ENOUGH_ROWS).select(F.spark_partition_id().alias("place"))
        _SEEN[spark] = places.agg(F.max("place")).collect()[0][0] + 1
    return _SEEN[spark]
