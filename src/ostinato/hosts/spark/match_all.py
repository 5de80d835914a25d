"""Sets of queries on Spark: one DataFrame with the results of all, told apart by `query_id`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ostinato.base.errors import OstinatoError, SchemaError, UnknownNameError, UnsupportedError
from ostinato.base.user_warning import warn_user
from ostinato.hosts.spark.batch.graph_frames import match_graph
from ostinato.hosts.spark.batch.match_batch import OnePartitionWarning, checked_budget, input_schema, prepared
from ostinato.hosts.spark.batch.partition_count import partition_count
from ostinato.hosts.spark.batch.set_ranges import match_set, plan_set
from ostinato.hosts.spark.batch.sorted_partitions import Matching, order_of, with_partition_in_ids
from ostinato.hosts.spark.merged_frame import batch_frame
from ostinato.hosts.spark.nested_columns import quoted
from ostinato.hosts.spark.python_workers import check_workers
from ostinato.hosts.spark.run_match import run_work
from ostinato.hosts.spark.run_options import BY_KEY, ONE, RANGES, RunOptions
from ostinato.hosts.spark.ship_program import shipped
from ostinato.hosts.spark.source import Source, is_batch, schema_of
from ostinato.hosts.spark.streaming.live_rules import live_set
from ostinato.hosts.spark.streaming.match_source import match_streams
from ostinato.hosts.spark.streaming.parquet_stream import ParquetStream
from ostinato.hosts.spark.streaming.rule_log import RuleLog
from ostinato.hosts.spark.types import as_on_spark, to_spark_schema
from ostinato.hosts.spark.work import Work
from ostinato.program.input import Input
from ostinato.program.program import Program
from ostinato.program.query_graphs import NO_QUERIES
from ostinato.program.shapes.shape import with_part
from ostinato.query_set import QuerySet
from ostinato.runtime.limits.budget import Budget
from ostinato.tasks.carried_names import carried
from ostinato.tasks.conform import batches_of
from ostinato.tasks.host_ids import has_ids
from ostinato.tasks.keyed_pass import Failed, concatenated, set_pass
from ostinato.tasks.ranges.set_job import SetJob
from ostinato.tasks.set_output import QUERY_ERROR, as_one_table, errors_table, with_errors
from ostinato.tasks.shipped_program import ShippedProgram


def match_all(spark: SparkSession, queries: QuerySet, given: Mapping[str, Source], options: RunOptions) -> DataFrame:
    """On streams all queries are one stateful operator; batches are read once for all queries that can go by their rows together."""
    if not len(queries) and options.rule_log is None:
        raise OstinatoError("the set has no queries", hint="Add some with add(id, text)")
    options.refuse_late("by sets of queries", "they are counted")
    sources = {name.lower(): source for name, source in given.items()}
    streams = not all(map(is_batch, sources.values()))
    options.check_used(streams=streams, batches=not streams)
    if options.path is not None:
        raise UnsupportedError("path= is for single queries", hint="leave it out")
    if options.tail_of is not None and (options.rule_log is not None or not streams):
        why = "a set that changes goes on" if streams else "a batch has no tail"
        raise UnsupportedError("tail_of= is for streams that have ended", hint=f"{why}: leave it out")
    if options.rule_log is not None:
        return _live(spark, queries, sources, options)
    if streams:
        work = _work(queries, _parts(queries), options)
        return run_work(spark, work, _read(work, sources), options)
    return reduce(DataFrame.unionAll, [_batch(_read(work, sources), work, options) for work in _families(queries, options)])


def _live(spark: SparkSession, queries: QuerySet, sources: Mapping[str, Source], options: RunOptions) -> DataFrame:
    """A stream that follows the set: what is added to it, removed from it or changed goes there by a log."""
    assert options.rule_log is not None
    schemas = {name.lower(): schema for name, schema in queries.schemas.items()}
    for name in sources:
        if name not in schemas:
            raise UnknownNameError(f"the set knows no stream {name!r}", hint=f"it was made with {', '.join(queries.schemas)}")
    own = {
        name: (_own_columns(source, schemas[name]), None if isinstance(source, ParquetStream) else source.schema)
        for name, source in sources.items()
    }
    live, rules = live_set(queries, RuleLog(options.rule_log), own, options.keys)
    output = rules.output
    if options.quarantines:
        _check_error_column(output)
        output = with_errors(output)
    work = Work(queries.program, output, is_set=True, quarantines=options.quarantines, fixed=live.division)
    frame = match_streams(spark, [sources[stream.name.lower()] for stream in work.streams], work, options, live)
    queries.follow(options.rule_log, rules)
    return frame


def _own_columns(source: Source, wanted: pa.Schema) -> pa.Schema:
    """Those that queries of the set may read, as Spark has them."""
    names = {name.lower() for name in wanted.names}
    return pa.schema([field for field in schema_of(source) if field.name.lower() in names])


def _parts(queries: QuerySet) -> dict[str, Program]:
    """Queries, and shapes of which many are evaluated as one. Numbers of matches are made unique by the names of queries: those that show
    them go by themselves."""
    return dict(queries.parts(lambda shape: not has_ids(shape.body)))


def _families(queries: QuerySet, options: RunOptions) -> list[Work]:
    """Queries whose rows are put in order together: all that read the same streams in the same order; and of those of several steps, which
    go by time, all that read some stream together."""
    parts = _parts(queries)
    plain: dict[object, list[str]] = {}
    composed: list[tuple[set[str], list[str]]] = []
    for name, program in parts.items():
        work = Work(program, as_on_spark(queries.output_schema), is_set=True)
        if not work.is_composed:
            plain.setdefault(_order(work.reads), []).append(name)
            continue
        own, names = {stream.name.lower() for stream in work.streams}, [name]
        for group in [group for group in composed if group[0] & own]:
            composed.remove(group)
            own, names = own | group[0], [*group[1], *names]
        composed.append((own, names))
    families = (*plain.values(), *(names for _, names in composed))
    return [_work(queries, {name: parts[name] for name in names}, options) for names in families]


def _work(queries: QuerySet, parts: Mapping[str, Program], options: RunOptions) -> Work:
    output = as_on_spark(queries.output_schema)
    if not options.quarantines:
        return Work(_together(parts), output, is_set=True)
    _check_error_column(output)
    return Work(_together(parts), with_errors(output), is_set=True, quarantines=True)


def _check_error_column(output: pa.Schema) -> None:
    if QUERY_ERROR in (name.lower() for name in output.names):
        hint = 'rename it, or pass on_error="raise"'
        raise SchemaError(f"a query returns a column `{QUERY_ERROR}`, as queries in quarantine do", hint=hint)


def _together(parts: Mapping[str, Program]) -> Program:
    program = NO_QUERIES
    for name, own in parts.items():
        program = with_part(program, name, own)
    return program


def _order(reads: Input) -> object:
    order = tuple((reads.columns[column].name, descending, nulls_first) for column, descending, nulls_first in reads.order)
    form = tuple((source.stream.lower(), source.columns, source.constants) for source in reads.sources)
    return reads.stream.lower(), form, reads.time_name, order


def _read(work: Work, sources: Mapping[str, Source]) -> list[Source]:
    for stream in work.streams:
        if stream.name.lower() not in sources:
            known = ", ".join(sources) or "none"
            raise UnknownNameError(f"the set reads a stream {stream.name!r} that was not given", hint=f"given: {known}")
    return [sources[stream.name.lower()] for stream in work.streams]


def _batch(read: list[Source], work: Work, options: RunOptions) -> DataFrame:
    budget = checked_budget(options)
    frames = [source for source in read if is_batch(source)]
    check_workers(frames[0].sparkSession)
    refusal = "one query reads what another returns"
    if not work.is_composed:
        frame = batch_frame(work, frames)
        job = plan_set(frame, work, input_schema(frame, work), budget)
        if isinstance(job, SetJob):
            return match_set(frame, job, work.output)
        refusal = job
    keyed = _is_keyed(work)
    if not keyed:
        warn_user(OnePartitionWarning(_one_place(work, refusal)))
    if work.is_composed:
        matches = match_graph(frames, work, BY_KEY if keyed else ONE, budget)
    else:
        matches = _by_rows(batch_frame(work, frames), work, budget)
    program = work.program
    numbered = [result.query for result in program.results if has_ids(program.operators[result.operator].body)]
    return with_partition_in_ids(matches, F.col(work.output.names[0]).isin(numbered)) if numbered else matches


def _is_keyed(work: Work) -> bool:
    """Of texts of several queries, those that read a stream by different times have keys apart: then all are in one place."""
    parts = work.division.parts
    return len(parts) == 1 and parts[0].not_by_key is None if work.is_composed else bool(work.keys)


def _one_place(work: Work, not_in_time: str) -> str:
    names = ", ".join(result.query for result in work.program.results)
    reasons = [part.not_by_key for part in work.division.parts if part.not_by_key is not None]
    by_key = "; ".join(reasons) or "their keys are apart"
    return f"one task matches all rows of the queries {names}\n  not {RANGES}: {not_in_time}\n  not {BY_KEY}: {by_key}"


def _by_rows(frame: DataFrame, work: Work, budget: Budget) -> DataFrame:
    rows = prepared(frame, work)
    if work.keys:
        keys = [quoted(carried(name)) for name in work.keys]
        placed = rows.repartition(partition_count(rows), *keys).sortWithinPartitions(*keys, *order_of(work.reads))
    else:
        placed = rows.repartition(1).sortWithinPartitions(*order_of(work.reads)) if work.reads.order else rows.coalesce(1)
    return placed.mapInArrow(_matching(shipped(work.program), work, budget), to_spark_schema(work.output))


def _matching(program: ShippedProgram, work: Work, budget: Budget | None) -> Matching:
    keys, output, quarantines = work.keys, work.output, work.quarantines

    def match(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        loaded, counted = program.load(), 0
        failed: Failed | None = {} if quarantines else None
        for found in set_pass(loaded, keys, concatenated(batches), budget, failed):
            yield from batches_of(as_one_table(found, loaded, output, 0, counted), output)
            counted += sum(table.num_rows for table in found.values())
        if failed:
            yield from batches_of(errors_table(failed, output), output)

    return match
