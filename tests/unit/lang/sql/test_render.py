"""Canonical text, and that parsing it gives the same tree."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ostinato.lang.sql.parse import parse_clause
from ostinato.lang.sql.render import render, render_pattern
from ostinato.lang.sql.syntax import Edge, Hidden, InOrder, Name, NoRows, OneOf, Permuted, Repeated, RowVariable

EXPRESSIONS = [
    "x + 1 * 2 - (3 - y) / 4 % 5",
    "-x + -5 - (-y) - -(5)",
    "NOT a AND b OR c AND NOT (d OR e)",
    "a AND b AND c AND d AND e",
    "a AND (b AND c) AND (d AND e)",
    "a OR (b OR c)",
    "x BETWEEN 1 AND 2 AND y NOT BETWEEN 3 AND 4",
    "x IN (1, 2) AND y NOT IN ('a', 'it''s')",
    "s LIKE 'a%' ESCAPE '!' OR s NOT LIKE 'b'",
    "x IS NULL AND y IS NOT NULL AND (x = y) IS TRUE AND b IS NOT FALSE",
    "x IS DISTINCT FROM y OR x IS NOT DISTINCT FROM z OR x <=> y",
    "CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 3 END = CASE x WHEN 1 THEN 2 END",
    "CAST(x AS DECIMAL(10, 2)) = y::double AND CAST(s AS TIMESTAMPTZ) IS NULL AND CAST(x AS INT) = 1",
    "ts > TIMESTAMP '2024-01-31 12:30:00.5' AND d = DATE '2024-02-01' AND ts - ts2 < INTERVAL '1' DAY",
    "TIMESTAMPTZ '2024-01-31 12:30:00+02' < ts",
    "1.5 + 2. + 1e3 + 1.5e-7 + 1e999",
    "EXTRACT(HOUR FROM ts) = 3 AND coalesce(x, y, 0) > 1 AND upper(s) || 'ü' = ''",
    'PREV("x y".z, 2) > A."select" AND FIRST(A.x + A.y) = LAST(v, 3)',
    'PREV(RUNNING LAST(A.x, 1), 2) = COUNT(*) + count(A.*) + COUNT("a".*) + sum(DISTINCT A.x)',
    "FINAL LAST(x) - FIRST(x) > MATCH_NUMBER() AND CLASSIFIER(A) = CLASSIFIER()",
    "TRUE AND NULL IS NULL OR FALSE",
    "ts < INTERVAL '-2' SECOND",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions_round_trip(text):
    tree = parse_clause(f"PATTERN (A) DEFINE A AS {text}")
    again = parse_clause(render(tree))
    assert again == tree
    assert render(again) == render(tree)


def test_canonical_text():
    text = """partition by p, "q r" order by ts asc, k desc nulls last measures last(a.x) as "select", count(*) as n
        pattern ((a b)* "low"{2,}?|()) within interval '90' minute define a as (x>1) and y<>'b', "low" as true"""
    assert render(parse_clause(text)).splitlines() == [
        'PARTITION BY p, "q r"',
        "ORDER BY ts, k DESC NULLS LAST",
        'MEASURES last(a.x) AS "select", count(*) AS n',
        "ONE ROW PER MATCH",
        "AFTER MATCH SKIP PAST LAST ROW",
        'PATTERN ((A B)* "low"{2,}? | ())',
        "WITHIN INTERVAL '01:30:00'",
        "DEFINE A AS x > 1 AND y <> 'b', \"low\" AS TRUE",
    ]


@pytest.mark.parametrize(
    "parts",
    [
        "ALL ROWS PER MATCH OMIT EMPTY MATCHES AFTER MATCH SKIP TO FIRST b PATTERN (A b)",
        'ALL ROWS PER MATCH WITH UNMATCHED ROWS AFTER MATCH SKIP TO "low" PATTERN (A "low") WITHIN 5 SUBSET u = (A, "low"), V = (A)',
        "PATTERN (^ PERMUTE(A, {- B+ -}) $)",
    ],
)
def test_clauses_round_trip(parts):
    tree = parse_clause(f"{parts} DEFINE A AS TRUE")
    assert parse_clause(render(tree)) == tree


def test_integer_window_round_trips():
    tree = parse_clause("PATTERN (A) WITHIN 300 DEFINE A AS TRUE")
    assert parse_clause(render(tree)) == tree


names = st.sampled_from(["A", "B", "low", "Ä x"]).map(lambda name: RowVariable(Name(name)))


def compound(inner):
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    bounds = st.tuples(st.integers(0, 3), st.none() | st.integers(0, 3)).map(
        lambda b: (b[0], None if b[1] is None else max(1, b[0] + b[1]))
    )
    repeated = st.builds(lambda item, b, greedy: Repeated(item, b[0], b[1], greedy), inner, bounds, st.booleans())
    return several.map(InOrder) | several.map(OneOf) | repeated | inner.map(Hidden) | several.map(Permuted)


@given(st.recursive(names | st.just(NoRows()) | st.booleans().map(Edge), compound, max_leaves=12))
def test_patterns_round_trip(pattern):
    assume(pattern != NoRows())
    text = f"PATTERN ({render_pattern(pattern)}) DEFINE A AS TRUE"
    assert parse_clause(text).pattern == pattern
