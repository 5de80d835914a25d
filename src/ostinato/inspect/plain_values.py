"""Columns as Python shows them. Python's own times stop at microseconds: those in nanoseconds are shown as text, with all their digits."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ostinato.expr.times.nanoseconds import Duration, Moment
from ostinato.expr.times.temporal_text import interval_text, timestamp_text


def plain_values(column: pa.Array | pa.ChunkedArray, separator: str = " ") -> list[Any]:
    """`separator` stands between a date and its time of day. Without pandas Arrow itself would refuse nanoseconds."""
    counted = _counted(column.type)
    if counted.equals(column.type):
        return column.to_pylist()
    return [_shown(value, column.type, separator) for value in column.cast(counted).to_pylist()]


def _counted(type_: pa.DataType) -> pa.DataType:
    """The same with numbers in place of times in nanoseconds."""
    if (pa.types.is_timestamp(type_) or pa.types.is_duration(type_)) and type_.unit == "ns":
        return pa.int64()
    if pa.types.is_struct(type_):
        return pa.struct([field.with_type(_counted(field.type)) for field in type_])
    if pa.types.is_list(type_):
        return pa.list_(type_.value_field.with_type(_counted(type_.value_type)))
    if pa.types.is_large_list(type_):
        return pa.large_list(type_.value_field.with_type(_counted(type_.value_type)))
    return type_


def _shown(value: Any, type_: pa.DataType, separator: str) -> Any:
    if value is None or _counted(type_).equals(type_):
        return value
    if pa.types.is_timestamp(type_):
        return timestamp_text(Moment(value, type_.tz is not None)).replace(" ", separator)
    if pa.types.is_duration(type_):
        return interval_text(Duration(value))
    if pa.types.is_struct(type_):
        return {field.name: _shown(value[field.name], field.type, separator) for field in type_}
    return [_shown(item, type_.value_type, separator) for item in value]
