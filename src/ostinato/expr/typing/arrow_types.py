"""Arrow's types and ours."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

from ostinato.base.errors import SchemaError
from ostinato.expr.types import BOOL, DATE, FLOAT, INTERVAL, NULL, STRING, Kind, Opaque, Type, decimal
from ostinato.expr.typing.schema import Schema

HINT = "Leave the column out, or cast it before"
SHOWN = 60  # characters of the name of a type

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
        raise SchemaError(f"{where} has the type {type_}, which no query can carry", hint=HINT)
    return found


def _from_arrow(type_: pa.DataType) -> Type | None:
    if pa.types.is_dictionary(type_):
        return _from_arrow(type_.value_type)
    if pa.types.is_integer(type_):
        return Type(Kind.INT, bits=type_.bit_width, signed=pa.types.is_signed_integer(type_))
    if pa.types.is_floating(type_):
        return FLOAT if type_.bit_width == 64 else Type(Kind.FLOAT, bits=32)
    if pa.types.is_decimal(type_):
        return decimal(type_.precision, type_.scale) if 0 <= type_.scale <= 18 and type_.precision <= 38 else _opaque(type_)
    if pa.types.is_timestamp(type_):
        return Type(Kind.TIMESTAMP, zone=type_.tz, unit=_unit(type_))
    if pa.types.is_duration(type_):
        return Type(Kind.INTERVAL, unit=_unit(type_))
    return next((ours for test, ours in _SIMPLE if test(type_)), None) or _opaque(type_)


@lru_cache(1024)
def _opaque(type_: pa.DataType) -> Type | None:
    """What is passed through as it is; None for the few types from which Arrow itself cannot select rows."""
    if _is_stubborn(type_):
        return None
    fields = [(type_.field(i).name, from_arrow(type_.field(i).type)) for i in range(type_.num_fields)] if pa.types.is_struct(type_) else []
    form = pa.schema([pa.field("v", type_)]).serialize().to_pybytes().hex()
    name = str(type_)
    shown = name if len(name) <= SHOWN else name[: SHOWN - 1] + "…"
    return Type(Kind.OPAQUE, opaque=Opaque(form, shown, tuple(fields)))


def _is_stubborn(type_: pa.DataType) -> bool:
    if pa.types.is_union(type_) or pa.types.is_run_end_encoded(type_):
        return True
    return any(_is_stubborn(type_.field(i).type) for i in range(type_.num_fields)) if pa.types.is_nested(type_) else False


@lru_cache(1024)
def _arrow_form(form: str) -> pa.DataType:
    return pa.ipc.read_schema(pa.py_buffer(bytes.fromhex(form))).field(0).type


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
    if type_.opaque is not None:
        return _arrow_form(type_.opaque.form)
    return _OUT[type_.kind]


def _unit(type_: pa.DataType) -> str:
    """Coarser units are held in microseconds."""
    return "ns" if type_.unit == "ns" else "us"


def _integer(type_: Type) -> pa.DataType:
    return (_SIGNED if type_.signed else _UNSIGNED)[type_.bits]


_SIGNED = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}
_UNSIGNED = {8: pa.uint8(), 16: pa.uint16(), 32: pa.uint32(), 64: pa.uint64()}
_OUT = {
    Kind.NULL: pa.null(),
    Kind.BOOL: pa.bool_(),
    Kind.STRING: pa.string(),
    Kind.DATE: pa.date32(),
}


def usable_schema(schema: pa.Schema) -> Schema:
    """The columns of an Arrow schema that a query can carry; the few others are refused where they are named, or whole rows are shown."""
    columns = [(field.name, _from_arrow(field.type), field.type) for field in schema]
    return Schema(
        tuple((name, type_) for name, type_, _ in columns if type_ is not None),
        tuple((name, str(own), HINT) for name, type_, own in columns if type_ is None),
    )


def schema_from_arrow(schema: pa.Schema) -> Schema:
    """All columns; SchemaError at the first of an unusable type."""
    return Schema(tuple((field.name, from_arrow(field.type, field.name)) for field in schema))
