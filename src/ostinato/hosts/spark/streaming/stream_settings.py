"""Settings of a session that streams with state need, and that Spark does not have by default.

They are read when a streaming query starts, and then kept in its checkpoint. So they are set on the session, where its owner has
chosen nothing; what was chosen and works is left alone, what cannot work is refused before the stream starts."""

from __future__ import annotations

import logging

from pyspark.sql import SparkSession

from ostinato.base.errors import UnsupportedError
from ostinato.hosts.spark.parallelism import is_local, parallelism
from ostinato.hosts.spark.streaming.buckets import DEFAULT_BUCKETS

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
WITHOUT_STATE_VARIABLES = "HDFSBackedStateStoreProvider"
PARTITIONS = "spark.sql.shuffle.partitions"
PARTITIONS_OF_BATCHES = "spark.sql.adaptive.coalescePartitions.initialPartitionNum"
ADAPTIVE = ("spark.sql.adaptive.enabled", "spark.sql.adaptive.coalescePartitions.enabled")
TOO_MANY = 8  # times as many partitions as buckets: most tasks of every micro-batch have nothing to do

log = logging.getLogger("ostinato")


def ready_for_streams(spark: SparkSession, buckets: int) -> None:
    _choose_state_store(spark)
    _choose_partitions(spark, buckets)


def _choose_state_store(spark: SparkSession) -> None:
    current = _value(spark, PROVIDER)
    if not current.endswith(WITHOUT_STATE_VARIABLES):
        return
    if _is_chosen(spark, PROVIDER):
        raise UnsupportedError(
            "the session's state store cannot hold the state of a pattern",
            detail=f"{PROVIDER} is {current}",
            hint=_line(PROVIDER, ROCKSDB),
        )
    spark.conf.set(PROVIDER, ROCKSDB)
    log.warning("for streams of this Spark session: %s", _line(PROVIDER, ROCKSDB))


def _choose_partitions(spark: SparkSession, buckets: int) -> None:
    """Spark's 200 make 200 tasks of every micro-batch, where the buckets are eight. Batches keep theirs: adaptive execution, which
    streams with state do not have, takes the number from elsewhere if it is told one."""
    former, wanted = _value(spark, PARTITIONS), str(_wanted(spark, buckets))
    if _is_chosen(spark, PARTITIONS):
        if former.isdigit() and int(former) > TOO_MANY * buckets:  # some vendors have "auto"
            log.warning(
                "%s shuffle partitions for %s buckets of keys: streams are faster with %s", former, buckets, _line(PARTITIONS, wanted)
            )
        return
    if any(_value(spark, name).lower() != "true" for name in ADAPTIVE):
        raise UnsupportedError(
            f"every micro-batch would be cut into {former} tasks, and without adaptive execution that cannot be changed for streams alone",
            hint=_line(PARTITIONS, wanted),
        )
    spark.conf.set(PARTITIONS, wanted)
    log.warning("for streams of this Spark session: %s", _line(PARTITIONS, wanted))
    if not _is_chosen(spark, PARTITIONS_OF_BATCHES):
        spark.conf.set(PARTITIONS_OF_BATCHES, former)
        log.warning("so that batches keep theirs: %s", _line(PARTITIONS_OF_BATCHES, former))


def _wanted(spark: SparkSession, buckets: int) -> int:
    """As many as buckets, of which later streams of the session may have more; on one machine no more than it has cores."""
    most = max(buckets, DEFAULT_BUCKETS)
    return min(most, parallelism(spark)) if is_local(spark) else most


def _value(spark: SparkSession, name: str) -> str:
    value = spark.conf.get(name)
    return "" if value is None else value


def _is_chosen(spark: SparkSession, name: str) -> bool:
    """Whether somebody has set it, be it to the value it has by default."""
    return spark.conf.get(name, None) is not None


def _line(name: str, value: str) -> str:
    return f'spark.conf.set("{name}", "{value}")'
