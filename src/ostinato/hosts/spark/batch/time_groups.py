"""The row groups of a DataFrame that tasks may read in time ranges, with the times that they hold."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame

from ostinato.archive.row_groups import RowGroup, list_row_groups
from ostinato.hosts.spark.batch.bounds_job import with_bounds
from ostinato.hosts.spark.batch.parquet_scan import holds_columns, scanned_files
from ostinato.program.input import Input
from ostinato.tasks.ranges.time_ranges import overlap_widely


def time_groups(frame: DataFrame, reads: Input, input: pa.Schema) -> list[RowGroup] | str:
    """Or why tasks may not read them so. `input` are the columns that are read, in the types that Spark shows."""
    files = scanned_files(frame)
    if files is None:
        return "the DataFrame is not a plain scan of Parquet files"
    listed = list_row_groups(files, reads.time_name, lambda opened, file: holds_columns(opened, input, file))
    if listed is None:
        return "the files do not hold all columns in the types that Spark shows"
    groups = with_bounds(frame.sparkSession, listed, reads)
    if not groups:
        return "the files have no rows"
    if overlap_widely(groups):
        return "the row groups overlap widely in time"
    return groups
