"""Several streams read as one: the rows of all in the columns of the query, for a union by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.hosts.spark.collations import check_collations
from ostinato.hosts.spark.nested_columns import at_path
from ostinato.hosts.spark.types import to_spark_type
from ostinato.hosts.spark.work import Work
from ostinato.program.input import Source
from ostinato.runtime.rows.stream_form import own_columns


def in_merged_form(frame: DataFrame, source: Source, work: Work) -> DataFrame:
    """One stream's rows: its own columns under their merged names, null for what it lacks, its event type and its place among the
    streams."""
    own = own_columns(source, work.reads.columns)
    constants = dict(source.constants)
    for pattern in work.patterns:
        check_collations(frame.schema, pattern, lambda name: own[name].name if name in own else None)

    def column(name: str, type_: pa.DataType) -> Column:
        if name in constants:
            value = F.lit(constants[name])
        else:
            value = at_path(frame, own[name].name) if name in own else F.lit(None)
        return value.cast(to_spark_type(type_)).alias(name)

    return frame.select(*(column(one.name, to_arrow(one.type)) for one in work.reads.columns))


def united(frames: Iterable[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionAll, frames)


def batch_frame(work: Work, read: Sequence[DataFrame]) -> DataFrame:
    """What the one input of the work reads, as one DataFrame; `read` are its streams, as the work numbers them."""
    frames = {stream.name.lower(): frame for stream, frame in zip(work.streams, read, strict=True)}
    if not work.reads.sources:
        return read[0]
    return united(in_merged_form(frames[source.stream.lower()], source, work) for source in work.reads.sources)
