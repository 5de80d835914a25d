"""Tree to text and back: the canonical text is stable, and means the same tree."""

from __future__ import annotations

import pytest
from tests.conformance.worked_cases import worked_cases

from ostinato.lang.sase.parse import parse
from ostinato.lang.sase.render import render

CANONICAL = [
    ("pattern A a", "PATTERN SEQ(A a)"),
    ("PATTERN SEQ(A a, ∼(SEQ(B x, C y)))", "PATTERN SEQ(A a, ~(SEQ(B x, C y)))"),
    ("PATTERN A+ a[] WHERE STRICT_CONTIGUITY(a)", "PATTERN SEQ(A+ a[ ])\nWHERE strict_contiguity(a[ ]) { }"),
    ("PATTERN A a WHERE a.x = 1, [y] WITHIN 3 h", "PATTERN SEQ(A a)\nWHERE a.x = 1 and [y]\nWITHIN 3 hours"),
    ("PATTERN A a WHERE a.x<80%*a.y", "PATTERN SEQ(A a)\nWHERE a.x < 0.8 * a.y"),
    ('PATTERN SEQ("two words" "where")', 'PATTERN SEQ("two words" "where")'),
]

CONDITIONS = [
    "(a.x - 1) * (a.y - (a.x - 2)) / -(3) % 4 > -5",
    "a.x = 1 or a.x = 2 or a.x = 3 or a.x = 4 and a.y = 5",
    "((a.x = 1 or a.x = 2) or a.x = 3) or a.x = 4",
    "not (a.x = 1 and not a.y in (1, 2, null)) or a.b is true",
    "a.s || 'it''s' not like '%\\_' escape '\\'",
    "a.x is not null and (a.y is distinct from a.x) = true",
    "a.x not between 1 and 1.50e3",
    "case when a.x > 1 then 2.50 else a.y end + 1 > cast(a.y as decimal(5, 1))",
    "case a.x when 1 then true end",
    "cast(a.x as integer) = a.x::bigint",
    "a.t > timestamp '2026-01-01 10:00:00.5+01' - interval '1 day 02:00:00' or a.d = date '2026-02-03'",
    "extract(hour from a.t) = 3",
    'greatest(a.x, coalesce(a.y, -1), 1e400) = upper("cast"(a.s))',
    "count(a.*) > 0 or count(distinct a.x) > 0 or count(*) > 0",
    'a."from" = a."two words"',
    '[x, "Y z"], a.x = false',
]


@pytest.mark.parametrize("text, canonical", CANONICAL)
def test_canonical_text(text, canonical):
    assert render(parse(text)) == canonical


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_round_trip(condition):
    tree = parse(f"PATTERN SEQ(A a) WHERE {condition}")
    assert parse(render(tree)) == tree
    assert render(parse(render(tree))) == render(tree)


def test_every_worked_case_round_trips():
    texts = [case.text for case in worked_cases() if case.language == "sase"]
    assert len(texts) == 250
    for text in texts:
        tree = parse(text)
        assert parse(render(tree)) == tree, text


def test_returns_round_trip():
    tree = parse('PATTERN SEQ(A+ a[]) RETURN a[1].x AS first, avg(a[].x + 1) AS "as", a[a.LEN].x, a.LEN AS n OUTPUT count')
    assert parse(render(tree)) == tree
