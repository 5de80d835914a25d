"""Whether the columns of a Parquet file are those of its stream."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from ostinato.base.errors import DataError
from ostinato.runtime.rows.struct_fields import type_named


def check_columns(opened: pq.ParquetFile, path: str, wanted: pa.Schema) -> None:
    """Further columns do no harm; a column that is missing, or of a type that would lose or change values, does."""
    own = opened.schema_arrow
    for field in wanted:
        places = own.get_all_field_indices(field.name)
        if type_named(own, field.name) is None and len(places) < 2:
            raise DataError(
                f"the file {path} has no column {field.name!r}",
                detail=f"its columns: {', '.join(own.names)}",
                hint="write the file with the columns of the stream, or take it out of the directory",
            )
        if len(places) > 1:
            raise DataError(f"the file {path} has {len(places)} columns {field.name!r}", hint="write the file with one of them")
        stored = own.field(places[0]).type if places else type_named(own, field.name)
        if not reads_as(stored, field.type):
            raise DataError(
                f"the column {field.name!r} of the file {path} has type {stored}, the stream's has {field.type}",
                hint="write the file with the stream's types, or take it out of the directory",
            )


def reads_as(stored: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether each value of the one type is one of the other. Timestamps without a zone are UTC's (so are INT96); what a finer unit would
    lose is looked at value by value, when they are read."""
    if pa.types.is_dictionary(stored):
        return reads_as(stored.value_type, wanted)
    if stored == wanted or pa.types.is_null(stored):
        return True
    if pa.types.is_timestamp(stored) and pa.types.is_timestamp(wanted):
        return wanted.tz is not None or stored.tz is None
    if pa.types.is_decimal(stored) and pa.types.is_decimal(wanted):
        return wanted.scale >= stored.scale and wanted.precision - wanted.scale >= stored.precision - stored.scale
    if _is_list(stored) and _is_list(wanted):
        return reads_as(stored.value_type, wanted.value_type)
    if pa.types.is_struct(stored) and pa.types.is_struct(wanted):
        members = [(member.name, own.name, reads_as(member.type, own.type)) for member, own in zip(stored, wanted, strict=False)]
        return stored.num_fields == wanted.num_fields and all(name == own and fits for name, own, fits in members)
    if pa.types.is_map(stored) and pa.types.is_map(wanted):
        return reads_as(stored.key_type, wanted.key_type) and reads_as(stored.item_type, wanted.item_type)
    return wanted in _WIDER.get(stored, ())


def _is_list(kind: pa.DataType) -> bool:
    return pa.types.is_list(kind) or pa.types.is_large_list(kind)


_WIDER = {
    pa.int8(): (pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()),
    pa.uint8(): (pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()),
    pa.int16(): (pa.int32(), pa.int64(), pa.float32(), pa.float64()),
    pa.uint16(): (pa.int32(), pa.int64(), pa.float32(), pa.float64()),
    pa.int32(): (pa.int64(), pa.float64()),
    pa.uint32(): (pa.int64(), pa.float64()),
    pa.float32(): (pa.float64(),),
    pa.large_string(): (pa.string(),),
    pa.large_binary(): (pa.binary(),),
}
