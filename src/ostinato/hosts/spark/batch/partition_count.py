"""How many partitions a shuffle gets: from the size of the input and the cores, not Spark's 200."""

from __future__ import annotations

import math
import re

from pyspark.sql import DataFrame

from ostinato.hosts.spark.parallelism import parallelism

BYTES_PER_PARTITION = 48 << 20
_UNITS = {"B": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40, "PiB": 50}
_SIZE = re.compile(r"sizeInBytes=([\d.]+) ([A-Za-z]+)")


def partition_count(frame: DataFrame) -> int:
    """At least one partition per core (ordinary tasks are short), more where the input is large."""
    cores = parallelism(frame.sparkSession)
    size = estimated_bytes(frame)
    return max(cores, math.ceil((size or 0) / BYTES_PER_PARTITION))


def estimated_bytes(frame: DataFrame) -> int | None:
    """What Spark's optimiser expects; None where it has no idea (it then assumes exabytes)."""
    plan = frame.sparkSession.sql("EXPLAIN COST SELECT * FROM {frame}", frame=frame).collect()[0][0]
    return size_in(plan)


def size_in(plan: str) -> int | None:
    found = _SIZE.search(plan)
    if found is None or found.group(2) not in _UNITS:
        return None
    return int(float(found.group(1)) * (1 << _UNITS[found.group(2)]))
