"""Several streams read as one: the rows of all in the columns of the query, for a union by name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ostinato.algebra.parts import Part
from ostinato.algebra.query import MatchQuery
from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.hosts.spark.collations import check_collations
from ostinato.hosts.spark.nested_columns import at_path
from ostinato.hosts.spark.types import to_spark_type


def in_merged_form(frame: DataFrame, part: Part, query: MatchQuery) -> DataFrame:
    """One part's rows: its own columns under their merged names, null for what it lacks, its event type and its place among the parts."""
    own_name = {merged: own for own, merged in part.columns}
    constants = query.constants(part)
    check_collations(frame.schema, query, own_name.get)

    def column(name: str, type_: pa.DataType) -> Column:
        if name in constants:
            value = F.lit(constants[name])
        else:
            value = at_path(frame, own_name[name]) if name in own_name else F.lit(None)
        return value.cast(to_spark_type(type_)).alias(name)

    return frame.select(*(column(name, to_arrow(type_)) for name, type_ in query.schema.columns))


def united(frames: Iterable[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionAll, frames)
