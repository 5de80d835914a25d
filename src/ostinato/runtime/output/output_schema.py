"""The columns of what a pattern reports."""

from __future__ import annotations

import pyarrow as pa

from ostinato.program.pattern import Pattern
from ostinato.runtime.output.compressed_output import compressed_schema
from ostinato.runtime.output.default_output import default_schema
from ostinato.runtime.output.measures import measured_schema
from ostinato.runtime.output.shown_rows import shown_schema

COUNT_SCHEMA = pa.schema([("count", pa.int64())])
TIMED_OUT = "timed_out"


def output_schema(pattern: Pattern) -> pa.Schema:
    if pattern.output == "count":
        return COUNT_SCHEMA
    if pattern.output == "compressed":
        return compressed_schema(pattern)
    if pattern.rows_per_match != "one":
        return shown_schema(pattern)
    shown = measured_schema(pattern) if pattern.measures.code else default_schema(pattern)
    return shown.append(pa.field(TIMED_OUT, pa.bool_())) if pattern.timeouts else shown
