"""DataFrames under names, for as long as Spark analyses a statement that uses them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

_ANALYSING = threading.RLock()  # temporary views belong to the Spark session, and threads may share one


@contextmanager
def temporary_views(spark: SparkSession, views: Mapping[str, DataFrame]) -> Iterator[None]:
    """A temporary view of the user's that has one of the names is put back afterwards."""
    if not views:
        yield
        return
    with _ANALYSING:
        replaced = {name: spark.table(name) for name in views if _is_temporary_view(spark, name)}
        try:
            for name, frame in views.items():
                frame.createOrReplaceTempView(name)
            yield
        finally:
            for name in views:
                if name in replaced:
                    replaced[name].createOrReplaceTempView(name)
                else:
                    spark.catalog.dropTempView(name)


def _is_temporary_view(spark: SparkSession, name: str) -> bool:
    return spark.catalog.tableExists(name) and spark.catalog.getTable(name).isTemporary
