"""Whether a DataFrame is nothing but a scan of Parquet files, so that tasks may read the files themselves."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from ostinato.archive.file_columns import reads_as
from ostinato.base.errors import SchemaError
from ostinato.hosts.spark.batch.plan_text import extended_plan
from ostinato.runtime.rows.struct_fields import type_named

# `Project [ts#0, p#2]` keeps columns as they are; a rename or an expression shows as `... AS q#21`
_PROJECT = re.compile(r"^Project \[(`?[^,\]]+#\d+L?(, )?)*\]$")
_RELATION = re.compile(r"^(\+- )?Relation .*\] parquet$")


def scanned_files(frame: DataFrame) -> list[str] | None:
    """The Parquet files of a plain scan (a projection may stand on top), else None."""
    if not is_plain_scan(extended_plan(frame)):
        return None
    files = frame.inputFiles()
    return sorted(files) if files else None


def is_plain_scan(plan: str) -> bool:
    """Reads the optimised plan of EXPLAIN EXTENDED: a relation over Parquet, at most below projections of whole columns."""
    section = plan.partition("== Optimized Logical Plan ==\n")[2].partition("\n\n")[0]
    lines = [line.strip() for line in section.splitlines() if line.strip()]
    if not lines or not _RELATION.match(lines[-1]):
        return False
    return all(_PROJECT.match(line.removeprefix("+- ")) and " AS " not in line for line in lines[:-1])


def holds_columns(opened: pq.ParquetFile, wanted: pa.Schema, file: str) -> bool:
    """Whether the file itself has the columns in the types that Spark shows: not partition directories, not a schema of the user's. A
    column of a kind that Spark will not read as that type is an error here, where the file is known."""
    own = opened.schema_arrow
    int96 = {opened.schema.column(i).name for i in range(len(opened.schema)) if opened.schema.column(i).physical_type == "INT96"}
    for field in wanted:
        kind = type_named(own, field.name)
        if kind is None:
            return False
        if field.name in int96:
            kind = pa.timestamp("us", tz="UTC")
        if not _reads_as(kind, field.type):
            _check_kinds(file, field, kind)
            return False
    return True


def _check_kinds(file: str, field: pa.Field, stored: pa.DataType) -> None:
    """Spark takes the types of one file for those of all, and fails in the middle of the job where another file has others. What it does
    convert is left to it: of integers only those of 64 bits have another form in Parquet than the smaller ones."""
    if not _is_plain(stored) or not _is_plain(field.type) or reads_as(stored, field.type):
        return
    if pa.types.is_integer(stored) and pa.types.is_integer(field.type) and stored.bit_width < 64:
        return
    raise SchemaError(
        f"the column {field.name!r} of the file {file} has type {stored}, that of the DataFrame has {field.type}",
        hint="write the files with the same types, or read them apart and cast the column",
    )


def _is_plain(kind: pa.DataType) -> bool:
    return pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_string(kind)


def _reads_as(stored: pa.DataType, shown: pa.DataType) -> bool:
    if pa.types.is_dictionary(stored):
        stored = stored.value_type
    if pa.types.is_timestamp(stored) and pa.types.is_timestamp(shown):
        return stored.unit in ("us", "ms") and (stored.tz is None) == (shown.tz is None)
    if pa.types.is_large_string(stored):
        return pa.types.is_string(shown)
    return stored == shown
