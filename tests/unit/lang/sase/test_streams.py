"""Several streams merged by time: which columns the query reads, and what each component may speak of."""

from __future__ import annotations

import pytest

from ostinato.algebra.parts import Part
from ostinato.base.errors import OstinatoError, SchemaError, UnknownNameError
from ostinato.expr.types import FLOAT, INT, STRING, TIMESTAMP, Kind, Type
from ostinato.expr.typing.schema import Schema
from ostinato.lang.sase import lower, parse
from ostinato.lang.streams.merge_streams import common_type

ORDERS = Schema((("ts", INT), ("symbol", STRING), ("quantity", INT)))
TRADES = Schema((("ts", INT), ("Symbol", STRING), ("price", FLOAT), ("quantity", FLOAT)))
BOTH = {"orders": ORDERS, "trades": TRADES, "others": ORDERS}
QUERY = "PATTERN SEQ(Orders o, Trades t) WHERE [symbol] and t.price > o.quantity"


def lowered(text, schemas=BOTH, **options):
    return lower(parse(text), schemas, **options)


def refusal(text, schemas=BOTH, **options) -> OstinatoError:
    with pytest.raises(OstinatoError) as caught:
        lowered(text, schemas, **options)
    return caught.value


def test_the_columns_are_the_union_by_name():
    query = lowered(QUERY)
    assert query.schema.columns == (
        ("ts", INT), ("symbol", STRING), ("quantity", FLOAT), ("price", FLOAT), ("event_type", STRING), ("stream_number", INT),
    )  # fmt: skip
    assert query.parts == (
        Part("orders", (("ts", "ts"), ("symbol", "symbol"), ("quantity", "quantity")), "orders"),
        Part("trades", (("ts", "ts"), ("Symbol", "symbol"), ("price", "price"), ("quantity", "quantity")), "trades"),
    )
    assert (query.stream, query.time, query.type_column, query.partition) == ("orders + trades", "ts", "event_type", ("symbol",))
    assert [definition.event_type for definition in query.definitions] == ["orders", "trades"]


def test_the_number_of_the_stream_decides_ties_and_no_expression_knows_it():
    query = lowered(QUERY)
    assert [key.column for key in query.order] == ["ts", "stream_number"]
    assert [query.constants(part)["stream_number"] for part in query.parts] == [0, 1]
    assert refusal("PATTERN SEQ(Orders o, Trades t) WHERE o.stream_number = 1").message == "Orders events have no attribute `stream_number`"


def test_streams_that_the_pattern_does_not_name_are_not_read():
    assert lowered("PATTERN SEQ(Orders a, orders b)").parts == ()
    assert lowered("PATTERN SEQ(Orders a, orders b)").stream == "orders"


def test_times_of_different_names_get_a_common_column():
    placed = Schema((("placed", INT), ("symbol", STRING), ("quantity", INT)))
    query = lowered(QUERY, {"orders": placed, "trades": TRADES}, time={"orders": "placed"})
    assert query.time == "ts" and query.parts[0].columns[-1] == ("placed", "ts")
    assert query.parts[1].columns[0] == ("ts", "ts")
    error = refusal("PATTERN SEQ(Orders o, Trades t) WHERE o.ts > 1", {"orders": placed, "trades": TRADES}, time={"orders": "placed"})
    assert error.message == "Orders events have no attribute `ts`"


def test_the_common_time_gets_a_free_name():
    placed = Schema((("placed", INT), ("ts", STRING)))
    query = lowered("PATTERN SEQ(A a, B b)", {"a": placed, "b": Schema((("at", INT),))}, time={"a": "placed", "b": "at"})
    assert query.time == "ts_" and [part.columns[-1] for part in query.parts] == [("placed", "ts_"), ("at", "ts_")]


def test_a_component_has_the_attributes_of_its_own_stream():
    text = "PATTERN SEQ(Orders o, Trades t) WHERE o.price > 1"
    error = refusal(text)
    assert isinstance(error, UnknownNameError) and error.message == "Orders events have no attribute `price`"
    assert error.span is not None and text[error.span.start : error.span.end] == "o.price"
    assert error.hint == "Attributes: ts, symbol, quantity"


def test_an_equivalence_test_is_about_all_streams():
    text = "PATTERN SEQ(Orders o, Trades t) WHERE [price]"
    error = refusal(text)
    assert error.message == "Orders events have no attribute `price`"
    assert error.span is not None and text[error.span.start : error.span.end] == "price"


def test_columns_of_one_name_need_a_common_type():
    error = refusal(QUERY, {"orders": ORDERS, "trades": Schema((("ts", INT), ("symbol", INT), ("price", FLOAT)))})
    assert isinstance(error, SchemaError)
    assert error.message == "Column `symbol` is of type string in stream `orders` and of type integer in stream `trades`"
    assert error.span is not None and QUERY[error.span.start : error.span.end] == "Trades t"


def test_times_must_be_comparable():
    schemas = {"orders": Schema((("placed", TIMESTAMP),)), "trades": Schema((("at", INT),))}
    error = refusal("PATTERN SEQ(orders o, trades t)", schemas, time={"orders": "placed", "trades": "at"})
    assert error.message == "Stream `orders` has a time of type timestamp, stream `trades` one of type integer"


def test_a_type_column_beside_whole_streams():
    mixed = Schema((("ts", INT), ("kind", STRING), ("x", INT)))
    query = lowered("PATTERN SEQ(Halt h, Trades t, Resume r)", {"events": mixed, "trades": TRADES}, type_by="kind")
    assert query.type_column == "kind"
    assert [part.event_type for part in query.parts] == [None, "trades"]
    assert [definition.event_type for definition in query.definitions] == ["Halt", "trades", "Resume"]
    assert refusal("PATTERN SEQ(Halt h, Trades t) WHERE h.price > 1", {"events": mixed, "trades": TRADES}, type_by="kind").message == (
        "Halt events have no attribute `price`"
    )


def test_one_stream_with_a_type_column_stays_as_it_is():
    mixed = Schema((("ts", INT), ("kind", STRING)))
    query = lowered("PATTERN SEQ(Events a, B b)", {"events": mixed, "trades": TRADES}, type_by="kind")
    assert (query.stream, query.parts, query.type_column) == ("events", (), "kind")
    assert query.definitions[0].event_type == "Events"  # a value of the column: the stream has several types


@pytest.mark.parametrize(
    ("a", "b", "shared"),
    [
        (INT, INT, INT),
        (INT, FLOAT, FLOAT),
        (Type(Kind.INT, bits=32), INT, INT),
        (STRING, Type(Kind.NULL), STRING),
        (Type(Kind.NULL), STRING, STRING),
        (Type(Kind.TIMESTAMP, zone="Asia/Tokyo"), Type(Kind.TIMESTAMP, zone="UTC"), Type(Kind.TIMESTAMP, zone="UTC")),
        (TIMESTAMP, Type(Kind.TIMESTAMP, zone="UTC"), None),
        (STRING, INT, None),
    ],
)
def test_common_type(a, b, shared):
    assert common_type(a, b) == shared
