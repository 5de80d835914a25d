"""A graph over batch DataFrames: the rows of all streams in order of time, and one session that runs all operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ostinato.base.errors import UnsupportedError
from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.hosts.spark.batch.decision import Decision
from ostinato.hosts.spark.batch.partition_count import partition_count
from ostinato.hosts.spark.batch.sorted_partitions import Matching
from ostinato.hosts.spark.nested_columns import quoted, travelling
from ostinato.hosts.spark.run_options import BY_KEY, ONE, RANGES
from ostinato.hosts.spark.ship_program import shipped
from ostinato.hosts.spark.stream_rows import check_stream, marked
from ostinato.hosts.spark.types import to_spark_schema, to_spark_type
from ostinato.hosts.spark.work import Work
from ostinato.runtime.limits.budget import Budget
from ostinato.tasks.conform import batches_of
from ostinato.tasks.fed_session import row_count
from ostinato.tasks.graph_pass import STREAM, TIME, graph_pass, rows_column
from ostinato.tasks.host_ids import identified
from ostinato.tasks.keyed_pass import Failed
from ostinato.tasks.set_output import as_one_table, errors_table
from ostinato.tasks.shipped_program import ShippedProgram

_KEY = "key"


def decide_graph(work: Work, path: str | None = None) -> Decision:
    """`path` forces one of the ways, as in `decide`."""
    (part,) = work.division.parts
    refusal = "one query reads what another returns" if path in (None, RANGES) else f"{path} was asked for"
    reasons = (f"one session for {_operators(work)}, whose rows come in order of time", f"not {RANGES}: {refusal}")
    if part.not_by_key is None and path != ONE:
        named = dict.fromkeys(", ".join(key.column for key in keys) for keys in part.keys)
        return Decision(BY_KEY, (f"shuffled by {' and '.join(named)} and sorted", *reasons))
    return Decision(ONE, (*reasons, f"not {BY_KEY}: {part.not_by_key or f'{path} was asked for'}"))


def _operators(work: Work) -> str:
    names = [operator.name for operator in work.program.operators if operator.name]
    return f"{len(work.program.operators)} patterns ({', '.join(names)})" if names else f"{len(work.program.operators)} patterns"


def match_graph(frames: Sequence[DataFrame], work: Work, path: str, budget: Budget | None) -> DataFrame:
    """The matches; `frames` are those of the streams, in their order. By key, each partition has all rows of its keys."""
    _check_times(work)
    keyed = path == BY_KEY
    parts = [_rows(frame, number, work, keyed) for number, frame in enumerate(frames)]
    rows = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    keys = [name for name in rows.columns if name.startswith(_KEY)]
    placed = rows.repartition(partition_count(rows), *keys) if keyed else rows.repartition(1)
    ordered = placed.sortWithinPartitions(TIME, STREAM).drop(*keys)
    return ordered.mapInArrow(_matching(shipped(work.program), work, budget), to_spark_schema(work.output))


def _check_times(work: Work) -> None:
    kinds = {stream.name: stream.reads.columns[stream.reads.time].type for stream in work.streams}
    if len({(kind.kind, kind.unit) for kind in kinds.values()}) > 1:
        raise UnsupportedError(
            "the streams have times of different types, and their rows are to be put in one order",
            detail="; ".join(f"{name}: {kind}" for name, kind in kinds.items()),
            hint="cast the times to one type",
        )


def _rows(frame: DataFrame, number: int, work: Work, keyed: bool) -> DataFrame:
    """The rows of a stream: whose they are, when, by which keys they are divided, and themselves as a struct."""
    stream = work.streams[number]
    check_stream(frame.schema, stream, work.program)
    rows, matters = marked(frame, stream, work.program)
    chosen = rows if matters is None else rows.where(matters | quoted(stream.time).isNull())
    keys = [
        quoted(key.column).cast(to_spark_type(to_arrow(key.type))).alias(f"{_KEY}{place}")
        for place, key in enumerate(work.division.keys_of(number) if keyed else ())
    ]
    whole = F.struct(*travelling(column.name for column in stream.reads.columns)).alias(rows_column(number))
    return chosen.select(F.lit(number).alias(STREAM), quoted(stream.time).alias(TIME), *keys, whole)


def _matching(program: ShippedProgram, work: Work, budget: Budget | None) -> Matching:
    is_set, output, quarantines = work.is_set, work.output, work.quarantines

    def match(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        loaded, counted = program.load(), 0
        failed: Failed | None = {} if quarantines else None
        for found in graph_pass(loaded, is_set, batches, budget, failed):
            if isinstance(found, pa.Table):
                yield from batches_of(identified(found, loaded.body, 0, counted + 1), output)
            else:
                yield from batches_of(as_one_table(found, loaded, output, 0, counted), output)
            counted += row_count(found)
        if failed:
            yield from batches_of(errors_table(failed, output), output)

    return match
