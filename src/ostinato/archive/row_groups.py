"""The row groups of Parquet files, and which times each of them holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from ostinato.base.errors import DataError, SchemaError
from ostinato.runtime.rows.struct_fields import named

_EPOCH = datetime(1970, 1, 1)
_EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class RowGroup:
    """`low` and `high` bound the time column (int64 microseconds, days, or the column's own integers)."""

    file: str
    number: int
    rows: int
    low: int
    high: int


@dataclass(frozen=True)
class ListedGroup:
    """A row group as its footer tells it, with bounds where it has them. `nulls` are rows without a time, as far as that is known."""

    file: str
    number: int
    rows: int
    low: int | None = None
    high: int | None = None
    nulls: int = 0

    @property
    def bounded(self) -> RowGroup | None:
        if self.low is None or self.high is None:
            return None
        return RowGroup(self.file, self.number, self.rows, self.low, self.high)


def open_file(location: str) -> pq.ParquetFile:
    """A Parquet file by path or URI. Spark writes INT96 timestamps unless told otherwise; they are read as microseconds."""
    try:
        if "://" not in location and not location.startswith("file:"):
            return pq.ParquetFile(location, memory_map=True, coerce_int96_timestamp_unit="us")
        if location.startswith("file:"):
            return pq.ParquetFile(unquote(urlparse(location).path), memory_map=True, coerce_int96_timestamp_unit="us")
        system, path = fs.FileSystem.from_uri(location)
        return pq.ParquetFile(system.open_input_file(path), coerce_int96_timestamp_unit="us")
    except (OSError, pa.ArrowInvalid) as error:
        raise DataError(f"cannot read the Parquet file {location}", detail=str(error)) from error


def list_row_groups(files: Sequence[str], time: str, fits: Callable[[pq.ParquetFile, str], bool] | None = None) -> list[ListedGroup] | None:
    """All row groups in the order of the paths, with the bounds of `time` that the footers know. None: some file does not fit."""
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda file: _of_file(file, time, fits), sorted(files)))
    fitting = [groups for groups in found if groups is not None]
    return None if len(fitting) < len(found) else [group for groups in fitting for group in groups]


def _of_file(file: str, time: str, fits: Callable[[pq.ParquetFile, str], bool] | None) -> list[ListedGroup] | None:
    with open_file(file) as opened:
        if fits is not None and not fits(opened, file):
            return None
        metadata = opened.metadata
        column = _column_number(opened, file, time)
        groups = []
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            if group.num_rows:
                groups.append(ListedGroup(file, number, group.num_rows, *_bounds(group.column(column).statistics)))
        return groups


def _column_number(opened: pq.ParquetFile, file: str, name: str) -> int:
    paths = [opened.schema.column(i).path for i in range(len(opened.schema))]
    if name not in paths:
        raise SchemaError(f"the file {file} has no column {name!r}", detail=f"its columns: {', '.join(paths)}")
    return paths.index(name)


def _bounds(statistics: pq.Statistics | None) -> tuple[int | None, int | None, int]:
    nulls = statistics.null_count if statistics is not None and statistics.has_null_count else 0
    if statistics is None or not statistics.has_min_max:
        return None, None, nulls
    return as_time(statistics.min), as_time(statistics.max), nulls


def as_time(value: object) -> int | None:
    """A time as the engine counts it, or None where it is not a number of anything."""
    if isinstance(value, datetime):
        since = value - (_EPOCH if value.tzinfo is None else _EPOCH_UTC)
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    if isinstance(value, date):
        return (value - _EPOCH.date()).days
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def times_of(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """A time column as int64, nulls kept."""
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us", tz=column.type.tz)).cast(pa.int64())
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    return column.cast(pa.int64())


def measure_bounds(groups: Iterable[ListedGroup], time: str) -> list[ListedGroup]:
    """The same row groups with bounds, unless all times are null; the time column is read where the footer has none (INT96 has no order
    in Parquet)."""
    measured = []
    for group in groups:
        if group.bounded is not None:
            measured.append(group)
            continue
        with open_file(group.file) as opened:
            column = times_of(named(opened.read_row_group(group.number, columns=[time]), time))
        bounds = pc.min_max(column).as_py()
        measured.append(replace(group, low=bounds["min"], high=bounds["max"], nulls=column.null_count))
    return measured


def place_without_time(group: ListedGroup, time: str) -> str:
    """Where the first row without a time stands, in a row group that has one."""
    with open_file(group.file) as opened:
        before = sum(opened.metadata.row_group(number).num_rows for number in range(group.number))
        column = named(opened.read_row_group(group.number, columns=[time]), time)
    return f" (row {before + pc.index(pc.is_null(column), True).as_py()} of {group.file}, counted from 0)"
