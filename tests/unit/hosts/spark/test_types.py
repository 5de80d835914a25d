from __future__ import annotations

import decimal

import pyarrow as pa
import pytest
from pyspark.sql import types as spark

from ostinato.base.errors import DataError, SchemaError
from ostinato.hosts.spark.types import left_out, to_arrow_schema, to_arrow_type, to_spark_schema, to_spark_type
from ostinato.tasks.conform import batches_of, conform

EXACT = [
    pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.binary(), pa.date32(),
    pa.timestamp("us", tz="UTC"), pa.timestamp("us"), pa.duration("us"), pa.decimal128(12, 3),
    pa.struct([("a", pa.int64()), ("b", pa.string())]),
]  # fmt: skip


@pytest.mark.parametrize("kind", EXACT, ids=str)
def test_there_and_back(kind: pa.DataType) -> None:
    assert to_arrow_type(to_spark_type(kind)) == kind


@pytest.mark.parametrize(
    ("kind", "held"),
    [
        (pa.uint8(), pa.int16()),
        (pa.uint64(), pa.decimal128(20, 0)),
        (pa.large_string(), pa.string()),
        (pa.dictionary(pa.int32(), pa.string()), pa.string()),
        (pa.timestamp("us", tz="Europe/Berlin"), pa.timestamp("us", tz="UTC")),
    ],
    ids=str,
)
def test_what_spark_holds_instead(kind: pa.DataType, held: pa.DataType) -> None:
    assert to_arrow_type(to_spark_type(kind)) == held


def test_lists_keep_their_elements() -> None:
    kind = to_arrow_type(to_spark_type(pa.list_(pa.struct([("a", pa.int64())]))))
    assert pa.types.is_list(kind) and kind.value_type == pa.struct([("a", pa.int64())])


def test_maps_go_both_ways() -> None:
    kind = spark.MapType(spark.StringType(), spark.ArrayType(spark.LongType()))
    assert to_arrow_type(kind) == pa.map_(pa.string(), pa.list_(pa.int64()))
    assert to_spark_type(to_arrow_type(kind)) == kind


def test_columns_that_arrow_cannot_hold_are_left_out_and_known() -> None:
    schema = spark.StructType([spark.StructField("m", spark.VariantType()), spark.StructField("n", spark.LongType())])
    assert to_arrow_schema(schema).names == ["n"]
    assert [field.name for field in left_out(schema)] == ["m"]
    with pytest.raises(SchemaError, match="no type"):
        to_spark_type(pa.time64("us"))


def test_conform_casts_exactly_or_fails() -> None:
    wanted = pa.schema([("b", pa.int32()), ("a", pa.string())])
    table = pa.table({"a": pa.array(["x"]).dictionary_encode(), "b": pa.array([7], pa.int64())})
    assert conform(table, wanted).schema == wanted
    assert [batch.to_pylist() for batch in batches_of(table, wanted)] == [[{"b": 7, "a": "x"}]]
    assert list(batches_of(table.slice(1), wanted)) == []
    with pytest.raises(DataError, match="column 'b' does not fit"):
        conform(pa.table({"a": ["x"], "b": [2**40]}), wanted)


def test_unsigned_values_survive() -> None:
    schema = pa.schema([("n", pa.uint64())])
    held = to_arrow_schema(to_spark_schema(schema))
    table = conform(pa.table({"n": pa.array([2**64 - 1], pa.uint64())}), held)
    assert table.column("n").to_pylist() == [decimal.Decimal(2**64 - 1)]
