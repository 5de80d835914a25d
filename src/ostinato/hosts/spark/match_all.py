"""Sets of queries on Spark: one DataFrame with the results of all, told apart by `query_id`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ostinato.base.errors import OstinatoError, UnknownNameError, UnsupportedError
from ostinato.hosts.spark.batch.match_batch import input_schema, prepared
from ostinato.hosts.spark.batch.partition_count import partition_count
from ostinato.hosts.spark.batch.sorted_partitions import Matching, order_of, with_partition_in_ids
from ostinato.hosts.spark.nested_columns import quoted
from ostinato.hosts.spark.python_workers import check_workers
from ostinato.hosts.spark.run_match import batch_frame
from ostinato.hosts.spark.run_options import RunOptions
from ostinato.hosts.spark.source import Source, is_batch
from ostinato.hosts.spark.streaming.match_source import match_source, match_sources
from ostinato.hosts.spark.types import as_on_spark, to_spark_schema
from ostinato.hosts.spark.work import Work
from ostinato.program import serde
from ostinato.program.input import Input
from ostinato.program.program import Program
from ostinato.program.query_graphs import NO_QUERIES, with_query
from ostinato.query_set import QuerySet
from ostinato.runtime.limits.budget import Budget
from ostinato.tasks.carried_names import carried
from ostinato.tasks.conform import batches_of
from ostinato.tasks.host_ids import has_ids
from ostinato.tasks.keyed_pass import concatenated, set_pass
from ostinato.tasks.set_output import as_one_table


def match_all(spark: SparkSession, queries: QuerySet, given: Mapping[str, Source], options: RunOptions) -> DataFrame:
    if not len(queries):
        raise OstinatoError("the set has no queries", hint="Add some with add(id, text)")
    options.refuse_late("by sets of queries", "they are counted")
    sources = {name.lower(): source for name, source in given.items()}
    streams = not all(map(is_batch, sources.values()))
    options.check_used(streams=streams, batches=not streams)
    if options.path is not None:
        raise UnsupportedError("path= is for single queries", hint="leave it out")
    families = _families(queries, composed_apart=not streams)
    if not streams:
        return reduce(DataFrame.unionAll, (_batch(_read(family, sources), family.work, options) for family in families))
    if len(families) > 1:
        raise UnsupportedError(
            "the queries of the set read different streams, or the same in another order, and one stream has one state",
            detail="; ".join(f"{', '.join(family.queries[:3])} {'...' if len(family.queries) > 3 else ''}" for family in families),
            hint="make a set of each, and unite the results",
        )
    (family,) = families
    read = _read(family, sources)
    if any(map(is_batch, read)):
        raise UnsupportedError("some of the streams that the set reads are tables", hint="Read them as streams too")
    several = len(family.work.reads.sources) > 1
    return match_sources(spark, read, family.work, options) if several else match_source(spark, read[0], family.work, options)


@dataclass(frozen=True)
class _Family:
    """Queries that read the same streams in the same order: rows go by them once."""

    queries: tuple[str, ...]
    work: Work


def _families(queries: QuerySet, composed_apart: bool) -> list[_Family]:
    """`composed_apart`: queries of several steps by themselves. Their steps go by time, which begins anew with every key of a sorted
    partition."""
    grouped: dict[object, list[str]] = {}
    for query in queries:
        outside = [reads for reads in queries[query].program.inputs if not any(source.operator >= 0 for source in reads.sources)]
        mixed = any(_reads_both(reads) for reads in queries[query].program.inputs)
        if mixed or len({_order(reads) for reads in outside}) > 1:
            raise UnsupportedError(
                f"query {query!r} has steps that read different streams",
                hint="run it by itself with ost.on(spark).match: its steps are then jobs one after the other",
            )
        composed = composed_apart and len(outside) < len(queries[query].program.inputs)
        grouped.setdefault((composed, _order(outside[0])), []).append(query)
    output = as_on_spark(queries.output_schema)
    return [_Family(tuple(names), Work(_together(queries, names), output, is_set=True)) for names in grouped.values()]


def _together(queries: QuerySet, names: Iterable[str]) -> Program:
    program = NO_QUERIES
    for name in names:
        program = with_query(program, name, queries[name].program, range(len(program.inputs)))
    return program


def _reads_both(reads: Input) -> bool:
    return len({source.operator >= 0 for source in reads.sources}) > 1


def _order(reads: Input) -> object:
    order = tuple((reads.columns[column].name, descending, nulls_first) for column, descending, nulls_first in reads.order)
    form = tuple((source.stream.lower(), source.columns, source.constants) for source in reads.sources)
    return reads.stream.lower(), form, reads.time_name, order


def _read(family: _Family, sources: Mapping[str, Source]) -> list[Source]:
    reads = family.work.reads
    names = [source.stream for source in reads.sources] or [reads.stream]
    for name in names:
        if name.lower() not in sources:
            raise UnknownNameError(f"the set reads a stream {name!r} that was not given", hint=f"given: {', '.join(sources) or 'none'}")
    return [sources[name.lower()] for name in names]


def _batch(read: list[Source], work: Work, options: RunOptions) -> DataFrame:
    frame = batch_frame(work, [source for source in read if is_batch(source)])
    check_workers(frame.sparkSession)
    input_schema(frame, work)
    rows = prepared(frame, work)
    if work.keys:
        keys = [quoted(carried(name)) for name in work.keys]
        placed = rows.repartition(partition_count(rows), *keys).sortWithinPartitions(*keys, *order_of(work.reads))
    else:
        placed = rows.repartition(1).sortWithinPartitions(*order_of(work.reads)) if work.reads.order else rows.coalesce(1)
    matches = placed.mapInArrow(_matching(serde.dumps(work.program), work.keys, work.output, options.budget), to_spark_schema(work.output))
    program = work.program
    numbered = [result.query for result in program.results if has_ids(program.operators[result.operator].body)]
    return with_partition_in_ids(matches, F.col(work.output.names[0]).isin(numbered)) if numbered else matches


def _matching(program: bytes, keys: tuple[str, ...], output: pa.Schema, budget: Budget | None) -> Matching:
    def match(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        loaded, counted = serde.loads(program), 0
        for found in set_pass(loaded, keys, concatenated(batches), budget):
            yield from batches_of(as_one_table(found, loaded, output, 0, counted), output)
            counted += sum(table.num_rows for table in found.values())

    return match
