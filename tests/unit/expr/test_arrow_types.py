from __future__ import annotations

import json

import pyarrow as pa
import pytest

from ostinato.base.errors import SchemaError
from ostinato.expr.types import INT, STRING, Kind, Type
from ostinato.expr.typing.arrow_types import from_arrow, schema_from_arrow, to_arrow, usable_schema
from ostinato.program import serde

STRUCT = pa.struct([("id", pa.int64()), ("at", pa.struct([("x", pa.float64())]))])


@pytest.mark.parametrize(
    "type_",
    [
        pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float32(), pa.float64(),
        pa.bool_(), pa.string(), pa.date32(), pa.timestamp("us"), pa.timestamp("us", "Europe/Berlin"), pa.duration("us"),
        pa.timestamp("ns"), pa.timestamp("ns", "Europe/Berlin"), pa.duration("ns"),
        pa.decimal128(10, 2), pa.decimal128(38, 18), pa.null(),
    ],
)  # fmt: skip
def test_a_plain_column_goes_out_as_it_came_in(type_):
    assert to_arrow(from_arrow(type_)) == type_


def test_many_forms_of_one_type():
    assert from_arrow(pa.large_string()) == from_arrow(pa.string_view()) == from_arrow(pa.dictionary(pa.int8(), pa.string())) == STRING
    assert from_arrow(pa.date64()).kind is Kind.DATE
    assert from_arrow(pa.timestamp("ms", "UTC")) == Type(Kind.TIMESTAMP, zone="UTC")


@pytest.mark.parametrize(
    "type_",
    [
        pa.list_(pa.int8()),
        pa.binary(),
        pa.time64("us"),
        pa.struct([]),
        pa.decimal256(60, 2),
        pa.map_(pa.string(), pa.struct([("x", STRUCT)])),
    ],
)
def test_other_types_are_passed_through_as_they_are(type_):
    found = from_arrow(type_)
    assert found.kind is Kind.OPAQUE and not found.is_computable
    assert to_arrow(found) == type_
    assert serde._value(json.loads(json.dumps(serde._plain(found)))) == found


def test_fields_of_structs_are_found_by_their_paths():
    schema = usable_schema(pa.schema([("Dev", STRUCT), ("dev.z", pa.int8()), ("n", pa.int64())]))
    assert schema.find("dev.ID") == "Dev.id" and schema.type_of("Dev.id") == INT
    assert schema.find("dev.at.X") == "Dev.at.x" and schema.root_of("Dev.at.x") == "Dev"
    assert schema.find("dev.z") == "dev.z" == schema.root_of("dev.z")
    assert schema.find("n.x") is schema.find("Dev.x") is schema.find("Dev.at.x.y") is None


@pytest.mark.parametrize("type_", [pa.run_end_encoded(pa.int32(), pa.int8()), pa.list_(pa.sparse_union([pa.field("a", pa.int8())]))])
def test_an_unusable_type_names_the_column(type_):
    with pytest.raises(SchemaError, match="Column payload has the type"):
        from_arrow(type_, "payload")


def test_schemas():
    schema = pa.schema([("a", pa.int64()), ("raw", pa.run_end_encoded(pa.int32(), pa.int8()))])
    assert usable_schema(schema).columns == (("a", INT),)
    with pytest.raises(SchemaError, match="raw"):
        schema_from_arrow(schema)
