"""Which keys go through a whole graph, and which do not."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.tasks.graph_division import GraphDivision

TICKS = pa.schema([("ts", pa.int64()), ("k", pa.string()), ("s", pa.string()), ("n", pa.int32()), ("v", pa.int64()), ("at", pa.int64())])
ORDERS = pa.schema([("ts", pa.int64()), ("k", pa.string()), ("n", pa.float64())])
STREAMS = {"ticks": TICKS, "orders": ORDERS}


def pair(keys: str = "[k]", returned: str = "a.k", selection: str = "skip_till_next_match", name: str = "Pair") -> str:
    tests = f"{keys} and b.v > a.v" if keys else "b.v > a.v"
    return f"PATTERN SEQ(ticks a, ticks b) WHERE {selection}(a, b) {{ {tests} }} WITHIN 9 RETURN {name}({returned}, b.v)"


def read(keys: str, events: str = "Pair x, Pair y") -> str:
    names = ", ".join(event.split()[1] for event in events.split(", "))
    return f"PATTERN SEQ({events}) WHERE skip_till_next_match({names}) {{ {keys} }} WITHIN 30 RETURN x.ts AS at"


def keys_of(*texts: str) -> dict[str, tuple[str, ...]]:
    division = GraphDivision(ost.compile("; ".join(texts), STREAMS).program)
    return {stream.name: tuple(key.column for key in division.keys_of(number)) for number, stream in enumerate(division.streams)}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((pair(), read("[k]")), {"ticks": ("k",)}),
        ((pair("[k] and [s]"), read("[k]")), {"ticks": ("k",)}),
        ((pair("[k] and [s]", "a.k, a.s"), read("[s] and [k]")), {"ticks": ("s", "k")}),
        ((pair("[s]", "a.s AS k"), read("[k]")), {"ticks": ("s",)}),
        ((pair(), read("[k]", "Pair x, ticks y")), {"ticks": ("k",)}),
        ((pair(), read("[k]", "Pair x, orders y")), {"orders": ("k",), "ticks": ("k",)}),
        ((pair("[s]", "a.s AS k"), read("[k]", "Pair x, orders y")), {"orders": ("k",), "ticks": ("s",)}),
        # the key of the one is not that of the other
        ((pair("[s]", "a.s AS k"), read("[k]", "Pair x, ticks y")), {"ticks": ()}),
        ((pair("[k]", "a.k, a.s"), read("[s]")), {"ticks": ()}),
        ((pair("", "a.k"), read("[k]")), {"ticks": ()}),
        ((pair(selection="strict_contiguity"), read("[k]")), {"ticks": ()}),
        # what is computed is no key, and what is compared as another type is in another place
        ((pair("[n]", "a.n + 0 AS n"), read("[n]")), {"ticks": ()}),
        ((pair("[n]", "a.n"), read("[n]")), {"ticks": ("n",)}),
        ((pair("[n]", "a.n"), read("[n]", "Pair x, orders y")), {"orders": (), "ticks": ()}),
        (
            (pair(), pair("[s]", "a.k, a.s", name="Two"), read("[k]", "Pair x, Two y")),
            {"ticks": ()},
        ),
    ],
)
def test_of_composed_texts(texts, expected):
    assert keys_of(*texts) == expected


def test_streams_that_never_meet_have_keys_of_their_own():
    queries = ost.QuerySet(STREAMS)
    queries.add("a", read("[k]", "ticks x, ticks y"))
    queries.add("b", read("[n]", "orders x, orders y"))
    division = GraphDivision(queries.program)
    assert [[key.column for key in division.keys_of(n)] for n in range(2)] == [["n"], ["k"]] and len(division.parts) == 2
    queries.add("c", read("x.n > y.n", "orders x, orders y"))
    division = GraphDivision(queries.program)
    assert [[key.column for key in division.keys_of(n)] for n in range(2)] == [[], ["k"]] and division.is_keyed
    assert division.parts[0].not_by_key is not None and "c: the pattern has no partition key" in division.parts[0].not_by_key
    queries.add("d", read("[k]", "ticks x, orders y"))
    assert not GraphDivision(queries.program).is_keyed


def test_a_stream_by_two_times_is_two():
    queries = ost.QuerySet(STREAMS)
    queries.add("a", read("[k]", "ticks x, ticks y"))
    queries.add("b", "SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY at MEASURES A.v AS v PATTERN (A) DEFINE A AS v > 3)")
    assert [(stream.name, stream.time) for stream in GraphDivision(queries.program).streams] == [("ticks", "at"), ("ticks", "ts")]


def test_one_number_for_all_matches_is_counted_in_one_place():
    queries = ost.QuerySet(STREAMS)
    counted = read("[k]", "ticks x, ticks y").partition(" RETURN")[0] + " OUTPUT count"
    assert keys_of(counted) == {"ticks": ("k",)}, "a host puts the counts of one query together"
    queries.add("n", counted)
    queries.add("a", read("[k]", "ticks x, ticks y"))
    (part,) = GraphDivision(queries.program).parts
    assert part.not_by_key == "n: OUTPUT count says one thing about all matches"


ONE_ROW = {
    "sase": ("PATTERN SEQ(ticks a) WHERE skip_till_next_match(a) { a.v > 3 } RETURN a.ts AS at", True),
    "sql": ("SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts MEASURES A.v AS v PATTERN (A | B) DEFINE A AS v > 3, B AS v < 0)", True),
    "numbered": ("SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts MEASURES MATCH_NUMBER() AS v PATTERN (A) DEFINE A AS v > 3)", False),
    "neighbours": ("SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts MEASURES A.v AS v PATTERN (A) DEFINE A AS v > PREV(v))", False),
    "perhaps none": ("SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts MEASURES A.v AS v PATTERN (A?) DEFINE A AS v > 3)", False),
    "several": ("SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts MEASURES LAST(A.v) AS v PATTERN (A+) DEFINE A AS v > 3)", False),
    "all rows": ("SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts ALL ROWS PER MATCH PATTERN (A) DEFINE A AS v > 3)", False),
    "negated": ("PATTERN SEQ(ticks a, ~(ticks b)) WHERE skip_till_next_match(a, b) { b.v > a.v } WITHIN 9 RETURN a.ts AS at", False),
    "counted": ("PATTERN SEQ(ticks a) WHERE skip_till_next_match(a) { a.v > 3 } OUTPUT count", False),
}


@pytest.mark.parametrize("name", ONE_ROW)
def test_matches_of_one_row_go_where_others_send_it(name):
    text, goes_anywhere = ONE_ROW[name]
    queries = ost.QuerySet(STREAMS)
    queries.add("one", text)
    assert not GraphDivision(queries.program, rows_anywhere=True).is_keyed
    queries.add("a", read("[k]", "ticks x, ticks y"))
    division = GraphDivision(queries.program, rows_anywhere=True)
    assert [key.column for key in division.keys_of(0)] == (["k"] if goes_anywhere else [])
    assert not GraphDivision(queries.program).is_keyed
