"""Spark numbers the matches of all ranges, key by key: the matches are shuffled, the rows are not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from ostinato.hosts.spark.batch.sorted_partitions import Matching
from ostinato.hosts.spark.nested_columns import quoted, travelling
from ostinato.hosts.spark.parallelism import parallelism
from ostinato.hosts.spark.ship_program import shipped
from ostinato.hosts.spark.types import to_spark_schema
from ostinato.program.pattern import Pattern
from ostinato.program.program import alone
from ostinato.tasks.carried_names import arrived
from ostinato.tasks.conform import batches_of
from ostinato.tasks.ranges.deferred_numbers import NUMBER, OWN, DeferredNumbers
from ostinato.tasks.ranges.match_places import PLACE
from ostinato.tasks.shipped_program import ShippedProgram


def numbered(matches: DataFrame, pattern: Pattern, output: pa.Schema) -> DataFrame:
    """What tasks gave, as the query shows it. The matches are shuffled by key: one partition per core, one in all without keys."""
    parts = DeferredNumbers(pattern)
    keys = [quoted(name) for name in parts.keys]
    tasks = parallelism(matches.sparkSession) if keys else 1
    window = Window.partitionBy(*(keys or [F.col(PLACE) < 0])).orderBy(PLACE)
    number = F.count(F.lit(1)).over(window.rowsBetween(Window.unboundedPreceding, Window.currentRow))
    found = matches.repartition(tasks, *keys).withColumn(OWN + NUMBER, number)
    if not parts.is_plain:
        return found.select(*travelling(found.columns)).mapInArrow(_completing(shipped(alone(pattern)), output), to_spark_schema(output))
    names = enumerate(pattern.measures.names)
    return found.select(*(quoted(OWN + NUMBER).alias(name) if n in parts.late else quoted(name) for n, name in names))


def _completing(program: ShippedProgram, output: pa.Schema) -> Matching:
    def complete(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = DeferredNumbers(program.load().body)
        for batch in batches:
            yield from batches_of(parts.completed(arrived(pa.Table.from_batches([batch]))), output)

    return complete
