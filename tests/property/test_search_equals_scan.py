"""Searched rows and runs give what visiting every row and every run gives, and what the definition says."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ostinato as ost
from ostinato import reference
from ostinato.base.errors import DataError
from ostinato.testing.compare_rows import difference

SCHEMA = pa.schema({"ts": pa.int64(), "k": pa.int64(), "v": pa.float64(), "n": pa.int64(), "s": pa.string()})
HUGE = 2**63 - 1
FLOATS = (0.0, -0.0, 1.0, 2.0, 3.0, 5.0, -1.5, -4.0, float("inf"), float("-inf"), float("nan"), None)
CONDITIONS = (
    "{x}.v > {y}.v",
    "{x}.v >= 2 * {y}.v",
    "{y}.v + 1 > {x}.v",
    "{x}.v <= {y}.v - 1",
    "{x}.v = {y}.v",
    "{x}.v BETWEEN {y}.v - 1 AND {y}.v + 2",
    "{x}.n > {y}.n + 2",
    "{x}.n = {y}.n",
    "{x}.n BETWEEN {y}.n AND {y}.n + 1",
    "{x}.n > {y}.v",
    "{x}.v < {y}.n",
    "{x}.s = {y}.s",
    "{x}.s > {y}.s",
    "{x}.n <> {y}.n AND {x}.v > {y}.v",
    "{x}.v > {y}.v AND {x}.n = 1",
    "{x}.n * 2 > {y}.n",
    "{x}.n = 1",
    "{x}.v - {y}.v > 2",
    "{x}.n - {y}.n < 2",
    "ABS({x}.v - {y}.v) < 2",
    "{x}.v / {y}.v >= 2",
    "{x}.v - {y}.v > 0.3",
    "{x}.v - {y}.v = 0.3",
    "({x}.v - {y}.v) / {y}.v >= 0.1",
    "{x}.v * {y}.v < {y}.v + 0.2",
    "2 * ({y}.v - {x}.v) > 0.6",
    "ABS({y}.v - {x}.v) <= 0.1",
    "ABS({x}.n - {y}.n) <= 1",
    "{y}.n - {x}.n > 1",
    "{x}.n - {y}.n = 1",
)
PATTERNS = (
    "A B+ C",
    "A B* C",
    "A B*? C",
    "A B+? C",
    "A B* C D",
    "A B* C D* E",
    "A B* (C | D)",
    "A (B* C)+",
    "B* C A?",
    "A B+ C $",
    "A B{2,} C?",
)


def text(pattern, conditions, skip, within, keys):
    names = sorted({name for name in pattern if name.isalpha()})
    defined = ", ".join(f"{name} AS {condition.format(x=name, y='A')}" for name, condition in conditions if name in names)
    define = f"DEFINE {defined}" if defined else "DEFINE C AS C.v > 0" if "C" in names else "DEFINE B AS B.v > 0"
    partition = "PARTITION BY k" if keys else ""
    return (
        f"SELECT * FROM t MATCH_RECOGNIZE ({partition} ORDER BY ts MEASURES MATCH_NUMBER() AS m, CLASSIFIER() AS c ALL ROWS PER MATCH "
        f"AFTER MATCH SKIP {skip} PATTERN ({pattern}) {within} {define})"
    )


@st.composite
def queries(draw):
    pattern = draw(st.sampled_from(PATTERNS))
    conditions = [(name, draw(st.sampled_from(CONDITIONS))) for name in "BCDE" if draw(st.booleans()) or name == "C"]
    within = draw(st.sampled_from(("", "", "WITHIN 5", "WITHIN 40", "WITHIN 7", "WITHIN 150")))
    skip = draw(st.sampled_from(("PAST LAST ROW", "TO NEXT ROW")))
    return text(pattern, conditions, skip, within, draw(st.booleans()))


def rows(seed, count, spread):
    """`spread`: values differ a lot, so that most rows are of no interest."""
    rng = np.random.default_rng(seed)
    v = [FLOATS[i] for i in rng.integers(0, len(FLOATS), count)] if not spread else [float(x) for x in rng.normal(5, 2, count).round(1)]
    n = [None if i == 0 else int(i) for i in rng.integers(0, 40 if spread else 4, count)]
    times = np.cumsum(rng.integers(0, 3, count))
    strings = [None if i == 0 else "xyz"[i - 1] for i in rng.integers(0, 4, count)]
    columns = [times, rng.integers(0, 2, count), v, n, strings]
    return pa.table([pa.array(c, f.type, from_pandas=False) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def run(compiled, table, pieces=()):
    """The output of a session that is fed in pieces, saved and opened again in between."""
    session, found, at = compiled.open(), [], 0
    for piece in pieces:
        found.append(session.push(table.slice(at, piece)))
        at += piece
        session = compiled.open(snapshot=session.snapshot())
    found.append(session.push(table.slice(at)))
    found.append(session.close())
    return pa.concat_tables([pa.table(part) if not isinstance(part, pa.Table) else part for part in found]).to_pylist()


def outcome(compiled, table, pieces=()):
    try:
        return repr(run(compiled, table, pieces))
    except DataError as error:
        return str(error)


@settings(max_examples=120, deadline=None)
@given(queries(), st.integers(0, 10**6), st.integers(2, 300), st.booleans(), st.lists(st.integers(1, 90), max_size=3))
def test_row_patterns(query, seed, count, spread, pieces):
    table = rows(seed, count, spread)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ost.QuadraticWarning)
        searched, scanned = (ost.compile(query, {"t": SCHEMA}, without=without) for without in ((), ("search",)))
    wanted = outcome(scanned, table)
    assert outcome(searched, table) == wanted
    if pieces:
        assert outcome(searched, table, pieces) == outcome(scanned, table, pieces)


@settings(max_examples=60, deadline=None)
@given(queries(), st.integers(0, 10**6), st.integers(2, 24))
def test_row_patterns_as_defined(query, seed, count):
    table = rows(seed, count, False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ost.QuadraticWarning)
        compiled = ost.compile(query, {"t": SCHEMA})
    wrong = difference(reference.output(compiled.algebra, table.to_pylist()), run(compiled, table))
    assert not wrong, wrong


EVENT_PATTERNS = (
    ("A a, B b", "b.v > a.v"),
    ("A a, B b", "b.v < a.v - 1"),
    ("A a, B b", "b.n >= a.n + 1 and b.n <= a.n + 2"),
    ("A a, B b", "b.n = a.n + 1"),
    ("A a, B b", "b.n * 2 > a.v and b.v > 0"),
    ("A a, B b", "b.v - a.v > 2"),
    ("A a, B b", "b.v - a.v >= 0.3"),
    ("A a, B b", "a.n - b.n < 2"),
    ("A a, B b", "abs(b.v - a.v) < 0.3"),
    ("A a, B b", "b.v / a.v > 1.1"),
    ("A a, B b, A c", "b.v > a.v and c.v < b.v"),
    ("A a, B b, A c", "b.n > a.n and c.v < a.v"),
    ("A a, B+ b[], C c", "b[i].v > b[i-1].v and c.v < a.v"),
    ("A a, B+ b[], C c", "b[1].v > a.v and b[i].v > b[i-1].v and c.n = 1"),
    ("A a, B+ b[], A c", "b[i].n < a.n and c.v > AVG(b[].v)"),
    ("A a, (B b | C c), A d", "b.v > a.v and d.v > a.v"),
)


def events(seed, count, spread):
    """Kinds of events by turns, in place of the strings."""
    kinds = ["ABC"[i] for i in np.random.default_rng(seed + 1).integers(0, 3, count)]
    return rows(seed, count, spread).set_column(4, "s", pa.array(kinds))


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(EVENT_PATTERNS),
    st.sampled_from(("skip_till_any_match", "skip_till_next_match")),
    st.sampled_from(("all", "count", "nonoverlapping")),
    st.integers(0, 10**6),
    st.integers(2, 60),
    st.booleans(),
    st.lists(st.integers(1, 30), max_size=2),
)
def test_event_patterns(pattern, selection, output, seed, count, spread, pieces):
    names = ", ".join(re.findall(r"\b[abcd]\b(?:\[\])?", pattern[0]))
    query = f"PATTERN SEQ({pattern[0]}) WHERE {selection}({names}) {{ {pattern[1]} }} WITHIN 15"
    table = events(seed, count, spread)
    results = []
    for without in ((), ("search",)):
        compiled = ost.compile(query, {"t": SCHEMA}, type_by="s", output=output, without=without, strategy="runs")
        results.append([outcome(compiled, table), outcome(compiled, table, pieces)])
    assert results[0] == results[1]


@pytest.mark.parametrize("define", ["C.n > A.n + 9223372036854775000", "C.n - A.n > 9223372036854775000", "C.n * 4 > A.n", "C.n > A.n * 4"])
@pytest.mark.parametrize("big", [HUGE, -HUGE, HUGE // 3])
def test_errors_are_those_of_a_scan(define, big):
    query = text("A B* C", [("C", define.replace("A.", "{y}.").replace("C.", "{x}."))], "PAST LAST ROW", "", False)
    for place in (0, 1, 90, 199):
        table = rows(1, 200, True)
        n = table["n"].to_pylist()
        n[place] = big
        table = table.set_column(3, "n", pa.array(n, pa.int64()))
        results = [outcome(ost.compile(query, {"t": SCHEMA}, without=without), table) for without in ((), ("search",))]
        assert results[0] == results[1]
