"""`without=` leaves out what it names, that alone, and no match changes by it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.conformance.match_times import DERIVED

import ostinato as ost
from ostinato.compiler import INTERVAL_SWITCHES, TREE_SWITCHES
from ostinato.rewrite.rules import NEEDED, RULES

SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("k", pa.string()), ("v", pa.int64())])
RISES = "PATTERN SEQ(A+ a[ ], B b) WHERE partition_contiguity(a[ ], b) { [k] AND a[i].v > a[i-1].v } WITHIN 50"
PAIRS = "PATTERN SEQ(A a, B b, C c) WHERE skip_till_any_match(a, b, c) { b.v > a.v AND c.v = b.v } WITHIN 50"
FAR = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(ts) AS a, LAST(ts) AS b
  PATTERN (A B* C) DEFINE C AS C.v > A.v + 8)"""
NESTED = "PATTERN SEQ(A a, !(B x, x.k = a.k), B b, C c, a.k = b.k, {}c.v > a.v) WITHIN 20"
HIGH_LOW = """FROM t PARTITION BY k DEFINE HIGH AS v > 6 AT LEAST 2, LOW AS v < 4 AT LEAST 2, MIDDLE AS v BETWEEN 3 AND 9
  PATTERN HIGH before LOW AND MIDDLE before;meets LOW WITHIN 40 RETURN first(HIGH.ts) AS a, last(LOW.ts) AS b"""
SASE = {"type_by": "kind", "time": "ts"}
SWITCHES = [
    ("adjacent_rows", RISES, SASE),
    ("merging", PAIRS, SASE),
    ("search", PAIRS, SASE),
    ("search", FAR, {}),
    ("equality_key", NESTED.format("b.k = c.k, "), SASE),
    ("equality_chains", NESTED.format(""), SASE),
    ("join_order", NESTED.format(""), SASE),
    ("negation_cut", NESTED.format("b.k = c.k, "), SASE),
    ("quiet_rows", HIGH_LOW, {"time": "ts"}),
    ("measured_order", HIGH_LOW, {"time": "ts"}),
    ("partnerless", HIGH_LOW, {"time": "ts"}),
]


def rows() -> pa.Table:
    rng = np.random.default_rng(2)
    columns = [np.arange(120), rng.choice(["A", "B", "C"], 120), rng.choice(["x", "y"], 120), rng.integers(0, 12, 120)]
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def found(query: ost.Query) -> list[str]:
    session = query.open(lateness=0)
    matches = [*session.push(rows()).to_pylist(), *session.close().to_pylist()]
    return sorted(str({name: value for name, value in row.items() if name not in DERIVED}) for row in matches)


@pytest.mark.parametrize(("switch", "text", "options"), SWITCHES)
def test_it_changes_the_program_and_no_match(switch: str, text: str, options: dict[str, str]) -> None:
    usual = ost.compile(text, {"t": SCHEMA}, **options)
    without = ost.compile(text, {"t": SCHEMA}, without=(switch,), **options)
    assert without.pattern != usual.pattern and without.explain() != usual.explain()
    assert found(without) == found(usual) != []


@pytest.mark.parametrize("switch", ["adjacent_rows", "merging", "search"])
def test_it_leaves_out_nothing_else(switch: str) -> None:
    query = ost.compile(RISES, {"t": SCHEMA}, without=(switch,), **SASE)
    kept = {"adjacent_rows": "adjacent_rows" in query.explain(), "merging": query.pattern.merging, "search": query.pattern.search}
    assert kept == {name: name != switch for name in kept}


def test_every_switch_is_tried() -> None:
    offered = {name for name, _ in RULES if name not in NEEDED} | {"merging", "search", "equality_key", *TREE_SWITCHES, *INTERVAL_SWITCHES}
    assert {name for name, _, _ in SWITCHES} == offered


def test_what_rewrites_did_is_shown() -> None:
    assert "rewrites: adjacent_rows\n" in ost.compile(RISES, {"t": SCHEMA}, **SASE).explain()
    assert "rewrites:" not in ost.compile(RISES, {"t": SCHEMA}, without=("adjacent_rows",), **SASE).explain()
