"""Late rows beside the matches of a stream. Spark writes one result per stateful operator, so both are rows of one DataFrame: a match has
null in the column `late`, a late row has it filled and null in all others."""

from __future__ import annotations

import pyarrow as pa

from ostinato.base.errors import SchemaError
from ostinato.hosts.spark.types import to_arrow_schema, to_spark_schema
from ostinato.program.input import Input
from ostinato.runtime.rows.late_rows import late_schema
from ostinato.tasks.conform import conform

LATE_ROW = "late"


def with_late_rows(output: pa.Schema, reads: Input) -> pa.Schema:
    """The columns of the matches, and the late row with the reason."""
    if LATE_ROW in (name.lower() for name in output.names):
        raise SchemaError(f"the query returns a column `{LATE_ROW}`, as late rows do", hint='rename it, or leave out late="keep"')
    row = to_arrow_schema(to_spark_schema(late_schema(reads)))
    return pa.schema([*(field.with_nullable(True) for field in output), pa.field(LATE_ROW, pa.struct(list(row)))])


def beside(matches: pa.Table, late: pa.Table, schema: pa.Schema) -> pa.Table:
    """Both in the columns of `schema`, which `with_late_rows` gives."""
    kind = schema.field(LATE_ROW).type
    rows = conform(late, pa.schema(list(kind)))
    structs = pa.StructArray.from_arrays([column.combine_chunks() for column in rows.columns], fields=list(kind))
    found = [*matches.columns, pa.nulls(matches.num_rows, kind)]
    missed = [*(pa.nulls(late.num_rows, field.type) for field in list(schema)[:-1]), structs]
    return pa.concat_tables([pa.table(found, schema=schema), pa.table(missed, schema=schema)])
