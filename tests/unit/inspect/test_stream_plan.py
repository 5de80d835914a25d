"""Automata over streams, as EXPLAIN shows them."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost

STOCK = pa.schema([("ts", pa.int64()), ("name", pa.string()), ("price", pa.float64()), ("volume", pa.int64())])
REBOUND = """SELECT name, low, price FROM FILTER {DUR < 60} (
    (SELECT name, price_1 AS high, price AS low FROM FILTER {volume > 10000} (stock) FOLD {$2.name = $.name, $2.price < $.price} stock)
    NEXT {$2.name = $1.name AND $2.price > 1.05 * $1.low} stock)"""


def query(text: str, **options: tuple[str, ...]) -> ost.Query:
    return ost.compile(text, {"stock": STOCK}, language="cel", **options)


def test_the_automaton_has_the_edges_of_the_paper() -> None:
    assert query(REBOUND).explain("automaton") == (
        "begin: stock where @0.volume > 10000 -> state 1\n"
        "state 1: waits for stock\n"
        "  filter: stays while an event is not relevant: @1.name = $@1.name\n"
        "  rebind: @1.price < $@1.price -> state 1 with name := @1.name, price := @1.price, volume := @1.volume\n"
        "  forward: always -> state 2\n"
        "state 2: waits for stock\n"
        "  filter: stays while an event is not relevant: @2.name = @1.name AND @2.price > 1.05e0 * @1.price\n"
        "  forward: @2.ts - @0.ts < 60 -> result\n"
        "result: @2.name AS name, @1.price AS low, @2.price AS price\n"
    )


def test_the_plan_says_how_instances_are_found_and_how_long_they_wait() -> None:
    plan = query(REBOUND).explain("plan")
    assert "partitions: name\n" in plan
    assert "state 1: instances are all looked at\n" in plan
    assert "state 2: instances are looked at where an event's value is above the least @1.(1.05e0 * price) that waits\n" in plan
    assert "state 1: an instance is let go when its events last longer than 59 in the unit of ts\n" in plan
    alone = query(REBOUND, without=("equality_key",)).explain("plan")
    assert "partitions: none" in alone and "state 2: instances are found by the value of @1.name, which an event must equal" in alone
    endless = query("FROM (SELECT name AS a FROM stock) NEXT stock", without=("search",)).explain("plan")
    assert "nothing bounds how long an instance waits: the budget limits them" in endless


def test_the_program_lists_states_and_edges() -> None:
    listed = query(REBOUND).explain("program")
    assert "begin: bit 0, starting at the time of the event, to state 0 by block" in listed
    assert "  rebind to state 0 by block" in listed and "  forward to a result by block" in listed


def test_only_event_patterns_are_drawn() -> None:
    with pytest.raises(ost.UnsupportedError, match="is drawn"):
        query(REBOUND).explain("automaton", format="svg")
