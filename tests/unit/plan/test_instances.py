"""Expressions over streams become automata: what divides them, by what instances are found, what they carry, and how long they wait."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.program.disassemble import disassemble
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.opcodes import Op
from ostinato.program.scalar_code import ColumnCall

SCHEMAS = {
    "stock": pa.schema([("ts", pa.int64()), ("name", pa.string()), ("price", pa.float64()), ("volume", pa.int64())]),
    "news": pa.schema([("at", pa.int64()), ("company", pa.string()), ("score", pa.int64())]),
    "day": pa.schema([("ts", pa.timestamp("ms")), ("name", pa.string()), ("box", pa.struct([("id", pa.int64())]))]),
}


def automaton(text: str, **options: Any) -> InstanceAutomaton:
    found = ost.compile(text, SCHEMAS, language="cel", time={"stock": "ts", "news": "at", "day": "ts"}, **options).pattern
    assert isinstance(found, InstanceAutomaton)
    return found


FALL = """SELECT * FROM (SELECT name, price, 1 AS n FROM stock)
    FOLD {$2.name = $.name AND $2.price < $.price, TRUE, $.n + 1 AS n} (SELECT name, price FROM stock)"""


def test_an_equality_of_all_events_is_the_key() -> None:
    found = automaton(FALL)
    assert found.reads.key_names == ("name",) and found.reads.null_keys == "never"
    assert [register.name for register in found.registers] == ["@0.price", "@1.price", "$@1.n", "$@1.price"]
    assert found.measures.code is not None
    shown = {op.params[0] for op in found.measures.code.ops if op.op == "input"}
    assert "partition:name" in shown  # keys are not carried


def test_a_key_may_have_another_name_in_every_stream() -> None:
    found = automaton("SELECT name, score FROM stock NEXT {$1.name = $2.company} news")
    assert found.reads.key_names == ("name",)
    assert [dict(source.columns).get("company") for source in found.reads.sources] == [None, "name"]


def test_an_equality_of_some_events_finds_instances() -> None:
    text = """SELECT v FROM (SELECT name AS a FROM stock) NEXT {$2.b = $1.a} (SELECT name AS b, volume AS v FROM stock)
        NEXT {$2.score = $1.v} news"""
    found = automaton(text)
    assert not found.reads.keys
    assert [(found.slots[state.slot].kind.value, found.registers[state.register].name) for state in found.states] == [
        ("string", "@0.name"),
        ("integer", "@1.volume"),
    ]
    assert all(state.relevant == -1 for state in found.states)  # nothing is left to test
    without = automaton(text, without=("search",))
    assert all(state.slot == state.register == -1 and state.relevant >= 0 for state in without.states)


def test_the_key_can_be_left_out() -> None:
    found = automaton(FALL, without=("equality_key",))
    assert not found.reads.keys and found.states[0].slot >= 0
    assert "found by equal values" in found.reason


def test_prices_are_no_key() -> None:
    """Floats are equal that are held differently."""
    assert not automaton("FROM (SELECT price AS a FROM stock) NEXT {$2.b = $1.a} (SELECT price AS b FROM stock)").reads.keys


@pytest.mark.parametrize(
    ("condition", "within"),
    [("DUR < 10", 9), ("DUR <= 10", 10), ("10 > DUR", 9), ("DUR < 10 AND DUR <= 4", 4), ("DUR > 10", -1), ("DUR < 10 OR a > 1", -1)],
)
def test_a_filter_says_how_long_instances_wait(condition: str, within: int) -> None:
    first = f"FILTER {{{condition}}} ((SELECT volume AS a FROM stock) NEXT (SELECT volume AS b FROM stock))"
    found = automaton(f"{first} NEXT (SELECT volume AS c FROM stock)")
    assert [state.within for state in found.states] == [within, -1] and found.within == within


def test_a_filter_of_what_comes_later_bounds_what_is_before() -> None:
    text = "FILTER {DUR < 10} ((SELECT volume AS a FROM stock) NEXT (SELECT volume AS b FROM stock) NEXT (SELECT volume AS c FROM stock))"
    assert [state.within for state in automaton(text).states] == [9, 9]
    days = "FILTER {DUR <= 2 SECONDS} ((SELECT name AS a FROM day) NEXT (SELECT name AS b FROM day))"
    assert automaton(days).within == 2_000_000


def test_what_is_asked_of_the_instance_alone_is_asked_before_it_waits() -> None:
    found = automaton("FROM (SELECT price AS a FROM stock) NEXT {$1.a > 5 AND $2.b > 7} (SELECT price AS b FROM stock)")
    assert found.states[0].relevant == -1
    assert found.reads.prefilter == "((`price` > 5.00000000000000000e+00) OR (`price` > 7.00000000000000000e+00))"


def test_several_streams_are_told_apart() -> None:
    found = automaton("SELECT volume, score FROM stock NEXT news")
    assert [source.constants for source in found.reads.sources] == [(("stream", 0),), (("stream", 1),)]
    assert found.reads.time_name == "end_ts" and len(found.reads.order) == 1


def test_a_struct_is_carried_or_only_its_fields() -> None:
    found = automaton("SELECT box FROM day NEXT (SELECT name AS b FROM day)")
    assert [(register.name, register.type.opaque is None) for register in found.registers] == [("@0.box", False)]
    found = automaton("SELECT id FROM (SELECT box.id AS id FROM day) NEXT (SELECT name FROM day)")
    assert [register.name for register in found.registers] == ['@0."box.id"']


def test_what_steps_make_of_a_struct_has_its_fields() -> None:
    text = "SELECT last.id AS id FROM (SELECT *, box AS last FROM day) FOLD {$2.box.id > $.last.id, TRUE, $2.box AS last} day"
    assert {register.name for register in automaton(text).registers} == {'$@1."last.id"'}


def test_fields_of_what_is_computed_are_refused() -> None:
    with pytest.raises(ost.OstinatoError, match="cannot look into a value of type"):
        automaton("SELECT b.id AS id FROM (SELECT CASE WHEN name = 'x' THEN box END AS b FROM day)")


def test_what_scalar_code_has_no_operation_for_is_column_code() -> None:
    text = "FROM (SELECT name, '' AS path FROM stock) FOLD {TRUE, TRUE, $.path || $2.name AS path} (SELECT name FROM stock)"
    (called,) = automaton(text).scalar.functions
    assert isinstance(called, ColumnCall) and called.name == "concat"
    assert [type_.kind.value for type_ in called.takes] == ["string", "string"]
    assert "concat of columns:\n  c0 = input '0' : string" in disassemble(automaton(text))


def test_the_order_of_texts_is_that_of_columns_where_some_are_made() -> None:
    """Nobody knows their places among the others before."""
    plain = "FROM stock NEXT {$2.name < $1.name} stock"
    assert automaton(plain).scalar.functions == () and Op.RANK in automaton(plain).scalar.op
    made = "FROM (SELECT name, '' AS path FROM stock) FOLD {$2.name < $.name, TRUE, $.path || $2.name AS path} (SELECT name FROM stock)"
    for text in (made, "FROM stock NEXT {$1.name || $2.name < 'x'} stock"):
        assert automaton(text).scalar.functions and Op.RANK not in automaton(text).scalar.op


def test_other_strategies_are_refused() -> None:
    with pytest.raises(ost.UnsupportedError, match="the strategy runs cannot evaluate this query: it combines streams of events that last"):
        automaton("stock NEXT news", strategy="runs")
    with pytest.raises(ost.UnsupportedError, match="the strategy instances cannot evaluate this query"):
        ost.compile("PATTERN SEQ(A a, B b) WITHIN 5", {"t": SCHEMAS["stock"]}, type_by="name", strategy="instances")
    with pytest.raises(ost.OstinatoError, match='there is no strategy "fast"'):
        automaton("stock NEXT news", strategy="fast")


@pytest.mark.parametrize("changes", ["$.g AS g, $.h AS h", "$.h AS g, $.g AS h", "$.g AS h, $2.name AS g"])
def test_what_steps_leave_as_it_was_is_the_key_still(changes: str) -> None:
    found = automaton(f"SELECT g, h FROM (SELECT name, name AS g, name AS h FROM stock) FOLD {{$2.name = $.name, TRUE, {changes}}} "
                      "(SELECT name FROM stock)")  # fmt: skip
    assert found.reads.key_names == ("name",) and found.registers == ()


def test_what_steps_exchange_with_something_else_is_not() -> None:
    text = """SELECT g, h FROM (SELECT name, name AS g, 'x' AS h FROM stock) FOLD {$2.name = $.name, TRUE, $.h AS g, $.g AS h}
        (SELECT name FROM stock)"""
    assert {register.name for register in automaton(text).registers} == {"$@1.g", "$@1.h"}
