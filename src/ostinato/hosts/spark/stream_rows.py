"""The rows of a stream as a graph wants them: in their own columns, without those that matter to nobody."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import or_

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.hosts.spark.collations import check_collations
from ostinato.hosts.spark.nested_columns import quoted, with_fields
from ostinato.hosts.spark.types import to_spark_type
from ostinato.program.input import Input, Source
from ostinato.program.program import Program
from ostinato.runtime.rows.struct_fields import type_of
from ostinato.tasks.outside_streams import OutsideStream, own_names

_ROW, _MARK = "__ostinato_row", "__ostinato_mark"


def marked(frame: DataFrame, stream: OutsideStream, program: Program) -> tuple[DataFrame, Column | None]:
    """The rows with the columns that are read of the stream, and which of them matter to one of those that read it; None: all."""
    flat = with_fields(frame, stream.reads)
    rows = flat.select(*(quoted(column.name) for column in stream.reads.columns))
    if not stream.feeds or not all(program.inputs[number].prefilter for number, _ in stream.feeds):
        return rows, None
    filters: list[Column] = []
    for number, place in stream.feeds:
        reads = program.inputs[number]
        if place is None:
            filters.append(F.expr(reads.prefilter))
        else:
            rows = _with_mark(rows, reads, reads.sources[place], f"{_MARK}{number}_{place}")
            filters.append(F.col(f"{_MARK}{number}_{place}"))
    return rows, reduce(or_, filters)


def without_filters(program: Program) -> Program:
    """One to which all rows matter."""
    return replace(program, inputs=tuple(replace(reads, prefilter="") for reads in program.inputs))


def _with_mark(rows: DataFrame, reads: Input, source: Source, name: str) -> DataFrame:
    """With a column that tells whether a row matters to a merged input, whose filter speaks of its own columns."""
    own, constants = own_names(reads, source), dict(source.constants)

    def merged(column: str) -> Column:
        return F.lit(constants[column]) if column in constants else quoted(own[column].name) if column in own else F.lit(None)

    merged_columns = [merged(one.name).cast(to_spark_type(to_arrow(one.type))).alias(one.name) for one in reads.columns]
    whole = rows.select(F.struct(*(quoted(column) for column in rows.columns)).alias(_ROW), *merged_columns)
    return whole.select(f"{_ROW}.*", F.expr(reads.prefilter).alias(name))


def check_stream(schema: StructType, stream: OutsideStream, program: Program) -> None:
    """Whether those that read the stream can read it as Spark has it."""
    for number, place in stream.feeds:
        reads = program.inputs[number]
        own = own_names(reads, Source(reads.stream) if place is None else reads.sources[place])
        names = {name: column.name for name, column in own.items()}
        for operator in program.operators:
            if number in operator.ports:
                check_collations(schema, operator.body, names.get)


def source_columns(known: pa.Schema, reads: Input) -> pa.Schema:
    """What is read, out of what a source has."""
    return pa.schema([pa.field(column.name, type_of(known, column)) for column in reads.columns])
