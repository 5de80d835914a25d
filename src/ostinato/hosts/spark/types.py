"""Spark's types and Arrow's: which stands for which, exactly. Spark refuses an Arrow column whose type is not the declared one."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import types as spark

from ostinato.base.errors import SchemaError

_PLAIN: tuple[tuple[type[spark.DataType], pa.DataType], ...] = (
    (spark.BooleanType, pa.bool_()),
    (spark.ByteType, pa.int8()),
    (spark.ShortType, pa.int16()),
    (spark.IntegerType, pa.int32()),
    (spark.LongType, pa.int64()),
    (spark.FloatType, pa.float32()),
    (spark.DoubleType, pa.float64()),
    (spark.StringType, pa.string()),
    (spark.BinaryType, pa.binary()),
    (spark.DateType, pa.date32()),
    (spark.TimestampType, pa.timestamp("us", tz="UTC")),
    (spark.TimestampNTZType, pa.timestamp("us")),
    (spark.DayTimeIntervalType, pa.duration("us")),
    (spark.NullType, pa.null()),
)


def to_arrow_type(kind: spark.DataType) -> pa.DataType | None:
    """The Arrow type of a Spark type, or None where Arrow has none (variants, intervals of months, user types). What is nested may be null:
    so values are the same whether Spark promises that they are not or does not."""
    if isinstance(kind, spark.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, spark.ArrayType):
        item = to_arrow_type(kind.elementType)
        return None if item is None else pa.list_(pa.field("element", item))
    if isinstance(kind, spark.MapType):
        key, value = to_arrow_type(kind.keyType), to_arrow_type(kind.valueType)
        return None if key is None or value is None else pa.map_(key, value)
    if isinstance(kind, spark.StructType):
        members = [(field, to_arrow_type(field.dataType)) for field in kind.fields]
        if any(member is None for _, member in members):
            return None
        return pa.struct([pa.field(field.name, member) for field, member in members])
    for own, arrow in _PLAIN:
        if type(kind) is own or (own is spark.StringType and isinstance(kind, own)):
            return arrow
    return None


def to_arrow_schema(schema: spark.StructType) -> pa.Schema:
    """The columns that the engine can read. The others are left out, so that a query that names one of them says so."""
    usable = [(field, to_arrow_type(field.dataType)) for field in schema.fields]
    return pa.schema([pa.field(field.name, kind, field.nullable) for field, kind in usable if kind is not None])


def left_out(schema: spark.StructType) -> list[spark.StructField]:
    """The columns that `to_arrow_schema` leaves out."""
    return [field for field in schema.fields if to_arrow_type(field.dataType) is None]


def to_spark_type(kind: pa.DataType) -> spark.DataType:
    """The Spark type that holds an Arrow type without loss."""
    if pa.types.is_dictionary(kind):
        return to_spark_type(kind.value_type)
    if pa.types.is_decimal(kind):
        return spark.DecimalType(kind.precision, kind.scale)
    if pa.types.is_timestamp(kind):
        return spark.TimestampNTZType() if kind.tz is None else spark.TimestampType()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return spark.ArrayType(to_spark_type(kind.value_type), True)
    if pa.types.is_map(kind):
        return spark.MapType(to_spark_type(kind.key_type), to_spark_type(kind.item_type), True)
    if pa.types.is_fixed_size_list(kind):
        return spark.ArrayType(to_spark_type(kind.value_type), True)
    if pa.types.is_struct(kind):
        return spark.StructType([spark.StructField(member.name, to_spark_type(member.type), True) for member in kind])
    if pa.types.is_unsigned_integer(kind):
        return _signed(kind)
    if pa.types.is_duration(kind):
        return spark.DayTimeIntervalType()
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return spark.StringType()
    if pa.types.is_large_binary(kind):
        return spark.BinaryType()
    for own, arrow in _PLAIN:
        if kind.equals(arrow):
            return own()
    raise SchemaError(f"Spark has no type for the column type {kind}", hint="cast it in the query to a type that Spark knows")


def _signed(kind: pa.DataType) -> spark.DataType:
    """Spark has no unsigned integers: the next wider signed type, as Spark itself does for Parquet."""
    wider = {8: spark.ShortType(), 16: spark.IntegerType(), 32: spark.LongType(), 64: spark.DecimalType(20, 0)}
    return wider[kind.bit_width]


def to_spark_schema(schema: pa.Schema) -> spark.StructType:
    return spark.StructType([spark.StructField(field.name, to_spark_type(field.type), True) for field in schema])


def as_on_spark(schema: pa.Schema) -> pa.Schema:
    """The Arrow types that the columns have when Spark has carried them."""
    return to_arrow_schema(to_spark_schema(schema))
