"""Spark shuffles and sorts, `mapInArrow` matches: for keyed patterns over any DataFrame, and for patterns that nothing divides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ostinato.hosts.spark.batch.partition_count import partition_count
from ostinato.hosts.spark.nested_columns import quoted
from ostinato.hosts.spark.ship_program import shipped
from ostinato.hosts.spark.types import to_spark_schema
from ostinato.program.input import Input
from ostinato.program.pattern import Pattern
from ostinato.program.program import alone
from ostinato.runtime.limits.budget import Budget
from ostinato.tasks.carried_names import carried
from ostinato.tasks.conform import reported
from ostinato.tasks.host_ids import BITS_BELOW, MATCH_ID, has_ids
from ostinato.tasks.keyed_pass import concatenated, keyed_pass
from ostinato.tasks.shipped_program import ShippedProgram
from ostinato.tasks.worker import run

Matching = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def match_by_key(frame: DataFrame, pattern: Pattern, output: pa.Schema, budget: Budget | None = None) -> DataFrame:
    """Every key in one partition, its rows together and in order."""
    keys = [quoted(carried(pattern.reads.columns[k].name)) for k in pattern.reads.keys]
    placed = frame.repartition(partition_count(frame), *keys).sortWithinPartitions(*keys, *order_of(pattern.reads))
    matches = placed.mapInArrow(_by_key(shipped(alone(pattern)), output, budget), to_spark_schema(output))
    return with_partition_in_ids(matches) if has_ids(pattern) else matches


def with_partition_in_ids(matches: DataFrame, among: Column | None = None) -> DataFrame:
    """Numbers that each partition counted for itself, told apart. By Spark: a task does not know which partition it computes where it
    computes several, as below `coalesce`. `among`: the rows whose numbers these are, if not all."""
    told_apart = F.col(MATCH_ID) + F.shiftleft(F.spark_partition_id().cast("long"), BITS_BELOW)
    return matches.withColumn(MATCH_ID, told_apart if among is None else F.when(among, told_apart).otherwise(F.col(MATCH_ID)))


def match_in_one_partition(frame: DataFrame, pattern: Pattern, output: pa.Schema, budget: Budget | None = None) -> DataFrame:
    placed = frame.repartition(1).sortWithinPartitions(*order_of(pattern.reads)) if pattern.reads.order else frame.coalesce(1)
    return placed.mapInArrow(_in_one(shipped(alone(pattern)), output, budget), to_spark_schema(output))


def order_of(reads: Input) -> list[Column]:
    columns = []
    for number, descending, nulls_first in reads.order:
        column = quoted(carried(reads.columns[number].name))
        if descending:
            columns.append(column.desc_nulls_first() if nulls_first else column.desc_nulls_last())
        else:
            columns.append(column.asc_nulls_first() if nulls_first else column.asc_nulls_last())
    return columns


def _by_key(program: ShippedProgram, output: pa.Schema, budget: Budget | None) -> Matching:
    def match(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        loaded = program.load().body
        yield from reported(keyed_pass(loaded, batches, budget), loaded, output, 0)

    return match


def _in_one(program: ShippedProgram, output: pa.Schema, budget: Budget | None) -> Matching:
    def match(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        loaded = program.load().body
        in_time = loaded.within >= 0 and loaded.within_unit == "time"  # then time lets go of what can no longer match
        yield from reported(run(loaded, concatenated(batches), ordered=not in_time, budget=budget), loaded, output, 0)

    return match
