"""OUTPUT aggregates and OUTPUT count are what the reference says, with every strategy, any cut of the input, and restarts in between."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato import reference
from ostinato.base.errors import BudgetError
from ostinato.expr.typing.arrow_types import usable_schema
from ostinato.lang import sase
from ostinato.plan.planner import plan
from ostinato.program.program import alone
from ostinato.rewrite.rules import rewrite
from ostinato.runtime.session.session import Session

SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("k", pa.int64()), ("v", pa.int64()), ("w", pa.float64())])
PATTERNS = {
    "SEQ(A a, B b)": "a, b",
    "SEQ(A+ a[ ], B b)": "a[ ], b",
    "SEQ(A a, B* b[ ], C c)": "a, b[ ], c",
    "SEQ(A a, B? b, C+ c[ ])": "a, b, c[ ]",
    "SEQ(A+ a[ ], B+ b[ ], C? c)": "a[ ], b[ ], c",
}
SELECTIONS = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")
WINDOWS = ("", "", "WITHIN 2", "WITHIN 5", "WITHIN 3 events", "WITHIN 5 events")
RETURNS = (
    "RETURN count(*) AS n, count(b[].v) AS bs, sum(b[].v) AS total, avg(a.w) AS mean, min(b[].w) AS low, max(a.v) AS top,"
    " max(b[].w) - min(b[].v) AS spread, sum(a.w) AS sum OUTPUT aggregates"
)


@st.composite
def queries(draw):
    pattern, names = draw(st.sampled_from(tuple(PATTERNS.items())))
    conditions = draw(st.sampled_from(("", "[k]", "a.v > 0", "[k] and b.v < 3")))
    returns = RETURNS if "a[" not in pattern else RETURNS.replace("a.", "a[].")
    if "B b" in pattern or "B? b" in pattern:
        returns = returns.replace("b[].", "b.")
    if "b[ ]" in pattern:
        conditions = conditions.replace("b.v", "b[i].v")
    if "a[ ]" in pattern:
        conditions = conditions.replace("a.v", "a[i].v")
    output = draw(st.sampled_from((returns, returns, "OUTPUT count")))
    selection, window = draw(st.sampled_from(SELECTIONS)), draw(st.sampled_from(WINDOWS))
    return f"PATTERN {pattern} WHERE {selection}({names}) {{ {conditions} }} {window} {output}"


events = st.tuples(
    st.integers(0, 2),
    st.sampled_from("ABC"),
    st.sampled_from((1, 1, 2, None)),
    st.sampled_from((-1, 0, 1, 4, None)),
    st.sampled_from((0.5, 1.0, -2.0, math.nan, None)),
)


def lowered(text):
    return sase.lower(sase.parse(text), {"events": usable_schema(SCHEMA)}, type_by="kind")


def rows_of(steps):
    time, rows = 0, []
    for step, kind, key, v, w in steps:
        time += step
        rows.append({"ts": time, "kind": kind, "k": key, "v": v, "w": w})
    return rows


def engine(query, strategy, rows, cuts, restarts):
    program = alone(plan(rewrite(query)[0], strategy))
    session = Session(program)
    bounds = [0, *sorted(split_statement for split_statement in cuts if split_statement <= len(rows)), len(rows)]
    for begin, end in zip(bounds, bounds[1:], strict=False):
        assert session.push(pa.Table.from_pylist(rows[begin:end], SCHEMA)).num_rows == 0
        if restarts:
            session = Session(program, snapshot=session.snapshot())
    return session.close().to_pylist()


def same(one, other):
    if one is None or other is None:
        return one is other
    return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, abs_tol=1e-9)


@settings(max_examples=150, deadline=None)
@given(queries(), st.lists(events, max_size=9), st.lists(st.integers(0, 9), max_size=3), st.booleans(), st.sampled_from((None, "runs")))
def test_engine_equals_reference(text, steps, cuts, restarts, strategy):
    query, rows = lowered(text), rows_of(steps)
    (wanted,) = reference.output(query, rows)
    (found,) = engine(query, strategy, rows, cuts, restarts)
    assert wanted.keys() == found.keys()
    assert all(same(wanted[name], found[name]) for name in wanted), f"{text}\n{wanted}\n{found}"


def test_texts_have_an_order_too():
    schema = pa.schema([("ts", pa.int64()), ("name", pa.string())])
    text = "PATTERN SEQ(T a, T b) RETURN min(b.name) AS low, max(a.name) AS top OUTPUT aggregates"
    query = sase.lower(sase.parse(text), {"t": usable_schema(schema)})
    session = Session(alone(plan(query)))
    session.push(pa.table({"ts": [1, 2, 3], "name": ["ü", "b", None]}, schema=schema))
    assert session.close().to_pylist() == [{"low": "b", "top": "ü"}]


@pytest.mark.parametrize("strategy", ["compact", "runs"])
def test_a_sum_beyond_64_bits_is_an_error(strategy):
    rows = [{"ts": n, "kind": "AB"[n % 2], "k": 1, "v": 2**62, "w": None} for n in range(8)]
    query = lowered("PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { } RETURN sum(a.v) AS total OUTPUT aggregates")
    with pytest.raises(Exception, match="SUM goes beyond 64 bits"):
        engine(query, strategy, rows, (), restarts=False)


def test_partial_matches_beyond_64_bits_are_no_error_until_they_are_reported():
    kinds = "A" * 70 + "C"
    rows = [{"ts": n, "kind": kind, "k": 1, "v": 1, "w": None} for n, kind in enumerate(kinds)]
    text = "PATTERN SEQ(A+ a[ ], {} c) WHERE skip_till_any_match(a[ ], c) {{ }} WITHIN 1000 OUTPUT count"
    assert engine(lowered(text.format("B")), "compact", rows, (), restarts=False) == [{"count": 0}]
    with pytest.raises(BudgetError, match="the count does not fit 64 bits"):
        engine(lowered(text.format("C")), "compact", rows, (), restarts=False)
