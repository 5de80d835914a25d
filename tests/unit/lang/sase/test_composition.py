"""Composite events, and several queries in one text."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.errors import OstinatoError
from ostinato.compiler import compile
from ostinato.lang.sase import parse, parse_queries, render

TICKS = pa.schema([("ts", pa.int64()), ("symbol", pa.string()), ("price", pa.float64())])
EVENTS = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("price", pa.float64())])
RISE = "PATTERN SEQ(ticks a, ticks b) WHERE [symbol] and b.price > a.price RETURN Rise(a.symbol, b.price AS price)"


def refusal(text, schemas=None, **options) -> OstinatoError:
    with pytest.raises(OstinatoError) as caught:
        compile(text, schemas or {"ticks": TICKS}, **options)
    return caught.value


def test_a_composite_event_has_a_type_a_time_and_attributes():
    query = compile(RISE, {"ticks": TICKS})
    assert query.composite == "Rise"
    assert query.output_schema.names == ["event_type", "ts", "symbol", "price"]
    assert compile("PATTERN SEQ(A a) RETURN B(a.price)", {"e": EVENTS}, type_by="kind").output_schema.names == ["kind", "ts", "price"]


def test_the_time_may_be_returned():
    query = compile("PATTERN SEQ(ticks a, ticks b) RETURN Rise(b.price, a.ts)", {"ticks": TICKS})
    assert query.output_schema.names == ["event_type", "ts", "price"]
    assert "ts = LAST(a.ts)" in query.explain("algebra")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RETURN Rise(a.price AS event_type)", "`event_type` is where the event tells its type"),
        ("RETURN Rise(a.symbol AS ts)", "`ts` is the time of the event, but this is of type string"),
        ("RETURN Rise(a.price) OUTPUT count", "OUTPUT count returns one row about all matches, and no event `Rise` for each"),
        ("RETURN Rise(a.price, b.price)", "Two returned attributes are called `price`"),
        ("RETURN Rise(a.price) INTO rises", "INTO is no clause of a query here"),
    ],
)
def test_refused_composites(text, message):
    error = refusal(f"PATTERN SEQ(ticks a, ticks b) {text}")
    assert error.message == message and error.span is not None


def test_functions_are_no_events():
    assert parse("PATTERN SEQ(A+ a[]) RETURN avg(a[].x) AS m").composite is None
    tree = parse("PATTERN SEQ(A a) RETURN abs(a.x)")
    assert tree.composite is None and len(tree.returns) == 1
    assert parse("PATTERN SEQ(A a) RETURN Alert(a.x) OUTPUT first").composite is not None


@pytest.mark.parametrize("name", ["Alert", '"avg"', '"or"', '"two words"', "café"])
def test_round_trip(name):
    tree = parse(f"PATTERN SEQ(A a) RETURN {name}(a.x AS y, a.z)")
    assert tree.composite is not None and parse(render(tree)) == tree


def test_queries_of_a_text():
    trees = parse_queries("PATTERN SEQ(A a) RETURN B(a.x);\n-- the second\nPATTERN SEQ(B b) ;")
    assert [render(tree) for tree in trees] == ["PATTERN SEQ(A a)\nRETURN B(a.x)", "PATTERN SEQ(B b)"]
    with pytest.raises(ost.UnsupportedError, match="the text has several"):
        parse("PATTERN SEQ(A a); PATTERN SEQ(B b)")


def test_a_later_query_reads_the_events_of_an_earlier_one():
    query = compile(f"{RISE}; PATTERN SEQ(rise x, Rise y) WHERE [symbol] and y.price > x.price", {"ticks": TICKS})
    (feed,) = query.upstream
    assert feed.composite == "Rise" and query.algebra.stream == "Rise" and query.algebra.time == "ts"
    assert query.explain("syntax").startswith("-- query 1 of 2\nPATTERN SEQ(ticks a, ticks b)")
    _, second = query.program.operators
    assert [source.operator for source in query.program.inputs[second.ports[0]].sources] == [0]
    session = query.open()
    found = session.push(pa.table({"ts": [1, 2, 3, 4], "symbol": ["a"] * 4, "price": [1.0, 2.0, 2.0, 3.0]}, schema=TICKS))
    assert [row["y"]["price"] for row in pa.concat_tables([found, session.close()]).to_pylist()] == [3.0]


def test_events_of_an_earlier_query_beside_others():
    query = compile(f"{RISE}; PATTERN SEQ(Rise x, ticks y) WHERE y.price < x.price", {"ticks": TICKS})
    assert [part.stream for part in query.algebra.parts] == ["ticks", "Rise"]
    typed = compile("PATTERN SEQ(A a) RETURN P(a.price AS p); PATTERN SEQ(P p, C c) WHERE p.p = c.price", {"e": EVENTS}, type_by="kind")
    assert [(part.stream, part.event_type) for part in typed.algebra.parts] == [("e", None), ("P", "P")]
    text = "PATTERN SEQ(A a) RETURN P(a.price AS p); PATTERN SEQ(P p, C c) WHERE p.p = c.p"
    assert refusal(text, {"e": EVENTS}, type_by="kind").message == "C events have no attribute `p`"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PATTERN SEQ(ticks a); PATTERN SEQ(ticks b)", "Query 1 of the text has no name by which a later one could read its events"),
        (f"{RISE}; PATTERN SEQ(ticks b)", "No later query of the text reads the events `Rise`"),
        ("PATTERN SEQ(ticks a) RETURN Ticks(a.price); PATTERN SEQ(ticks b)", "There is already a stream `Ticks`"),
        (f"PATTERN SEQ(Rise b) RETURN F(b.price); {RISE}", "No later query of the text reads the events `F`"),
        (f"PATTERN SEQ(Rise b) RETURN F(b.price); {RISE}; PATTERN SEQ(F f, Rise r)", "There is no stream for the event type `Rise`"),
    ],
)
def test_refused_texts(text, message):
    error = refusal(text)
    assert error.message == message and error.span is not None and error.text == text
