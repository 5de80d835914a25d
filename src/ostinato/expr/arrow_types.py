"""Arrow's types and ours."""

from __future__ import annotations

import pyarrow as pa

from ostinato.base.errors import SchemaError
from ostinato.expr.schema import Schema
from ostinato.expr.types import BOOL, DATE, FLOAT, INTERVAL, NULL, STRING, Kind, Type, decimal

HINTS = (
    (pa.types.is_time, "Combine it with a date into a timestamp"),
    (pa.types.is_binary, "Cast it to a string"),
    (pa.types.is_large_binary, "Cast it to a string"),
    (pa.types.is_struct, "Select its fields as columns"),
    (pa.types.is_nested, "Flatten it, or leave the column out"),
)

_SIMPLE = (
    (pa.types.is_null, NULL),
    (pa.types.is_boolean, BOOL),
    (pa.types.is_string, STRING),
    (pa.types.is_large_string, STRING),
    (pa.types.is_string_view, STRING),
    (pa.types.is_date, DATE),
    (pa.types.is_interval, INTERVAL),  # DuckDB's; those with months are refused when they are read
)


def from_arrow(type_: pa.DataType, column: str | None = None) -> Type:
    """Our type of an Arrow column; SchemaError, naming the column, where there is none."""
    found = _from_arrow(type_)
    if found is None:
        where = f"Column {column}" if column is not None else "A column"
        raise SchemaError(f"{where} has the type {type_}, which expressions cannot use", hint=_hint(type_))
    return found


def _from_arrow(type_: pa.DataType) -> Type | None:
    if pa.types.is_dictionary(type_):
        return _from_arrow(type_.value_type)
    if pa.types.is_integer(type_):
        return Type(Kind.INT, bits=type_.bit_width, signed=pa.types.is_signed_integer(type_))
    if pa.types.is_floating(type_):
        return FLOAT if type_.bit_width == 64 else Type(Kind.FLOAT, bits=32)
    if pa.types.is_decimal(type_):
        return decimal(type_.precision, type_.scale) if 0 <= type_.scale <= 18 and type_.precision <= 38 else None
    if pa.types.is_timestamp(type_):
        return Type(Kind.TIMESTAMP, zone=type_.tz, unit=_unit(type_))
    if pa.types.is_duration(type_):
        return Type(Kind.INTERVAL, unit=_unit(type_))
    return next((ours for test, ours in _SIMPLE if test(type_)), None)


def to_arrow(type_: Type) -> pa.DataType:
    """What a column of our type goes out as."""
    if type_.kind is Kind.INT:
        return _integer(type_)
    if type_.kind is Kind.FLOAT:
        return pa.float32() if type_.bits == 32 else pa.float64()
    if type_.kind is Kind.DECIMAL:
        return pa.decimal128(type_.precision, type_.scale)
    if type_.kind is Kind.TIMESTAMP:
        return pa.timestamp(type_.unit, type_.zone)
    if type_.kind is Kind.INTERVAL:
        return pa.duration(type_.unit)
    if type_.kind is Kind.LIST:
        assert type_.item is not None
        return pa.list_(to_arrow(type_.item))
    return _OUT[type_.kind]


def _unit(type_: pa.DataType) -> str:
    """Coarser units are held in microseconds."""
    return "ns" if type_.unit == "ns" else "us"


def _integer(type_: Type) -> pa.DataType:
    signed = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}
    unsigned = {8: pa.uint8(), 16: pa.uint16(), 32: pa.uint32(), 64: pa.uint64()}
    return (signed if type_.signed else unsigned)[type_.bits]


_OUT = {
    Kind.NULL: pa.null(),
    Kind.BOOL: pa.bool_(),
    Kind.STRING: pa.string(),
    Kind.DATE: pa.date32(),
}


def usable_schema(schema: pa.Schema) -> Schema:
    """The columns of an Arrow schema that expressions can use; the others are left out, and are missed only where they are named."""
    columns = [(field.name, _from_arrow(field.type), field.type) for field in schema]
    return Schema(
        tuple((name, type_) for name, type_, _ in columns if type_ is not None),
        tuple((name, str(own), _hint(own)) for name, type_, own in columns if type_ is None),
    )


def _hint(type_: pa.DataType) -> str | None:
    return next((text for test, text in HINTS if test(type_)), None)


def schema_from_arrow(schema: pa.Schema) -> Schema:
    """All columns; SchemaError at the first of an unusable type."""
    return Schema(tuple((field.name, from_arrow(field.type, field.name)) for field in schema))
