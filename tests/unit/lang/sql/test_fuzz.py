"""Damaged query texts are parsed, or refused with a clear error that has a place; nothing else happens."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato.base.errors import OstinatoError
from ostinato.expr.types import BOOL, FLOAT, INT, STRING, TIMESTAMP
from ostinato.expr.typing.schema import Schema
from ostinato.lang.sql import lower, parse_clause, render, split_statement

SCHEMA = Schema((("p", STRING), ("ts", TIMESTAMP), ("n", INT), ("v", FLOAT), ("s", STRING), ("up", BOOL)))

STATEMENTS = (
    """WITH x AS (SELECT * FROM t WHERE n > 1) SELECT m.*, u.a FROM x MATCH_RECOGNIZE (
        PARTITION BY p ORDER BY ts, n DESC NULLS FIRST
        MEASURES FINAL LAST(A.v) - FIRST(v, 1) AS d, COUNT(B.*) AS c, CLASSIFIER() AS k, MATCH_NUMBER() AS i
        ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW
        PATTERN ((A | B+?) (C{2,3} | ())* "low"?) WITHIN INTERVAL '5' MINUTE
        DEFINE A AS v > PREV(v) AND s LIKE 'a%', B AS CASE WHEN up THEN n ELSE 0 END BETWEEN 1 AND 2, "low" AS SUM(v) < 10.5
    ) AS m JOIN u ON m.p = u.p;""",
    """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY n MEASURES AVG(v) AS a, PREV(FIRST(A.n, 1), 2) AS b PATTERN (A{,3} B) WITHIN 300
        DEFINE A AS CAST(n AS DOUBLE) / 2 >= AVG(A.v) -- comment
        , B AS NOT (up OR s IN ('x', 'y''z')) /* more */)""",
)
BITS = [
    "(", ")", "{", "}", "-", "*", "+", "?", "|", ",", ".", "'", '"', "`", "$", "^", "\\", "\x00", "é", "𝔸", "\n", "--", "/*",
    "1e999", "9" * 30,
    " PATTERN ", " DEFINE ", " MATCH_RECOGNIZE ", " AS ", " FINAL ", " PREV(", " CLASSIFIER()", " ALL ROWS PER MATCH ", " SUBSET ",
    ";", "NULL", " INTERVAL '1' MONTH ", " A.", "*)", " SELECT ", "{2,1}", "??", "²",
]  # fmt: skip


@st.composite
def damaged(draw):
    text = draw(st.sampled_from(STATEMENTS))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        upto = min(len(text), at + draw(st.integers(0, 12)))
        action = draw(st.sampled_from(["insert", "delete", "replace", "swap", "truncate"]))
        bit = draw(st.sampled_from(BITS) | st.text(max_size=3))
        if action == "insert":
            text = text[:at] + bit + text[at:]
        elif action == "delete":
            text = text[:at] + text[upto:]
        elif action == "replace":
            text = text[:at] + bit + text[upto:]
        elif action == "swap":
            text = text[:at] + text[upto : upto + 10] + text[at:upto] + text[upto + 10 :]
        elif at > len(text) // 2:
            text = text[:at]
    return text


@settings(max_examples=200, deadline=None)
@given(damaged())
def test_damaged_texts(text):
    try:
        for clause in split_statement(text).clauses:
            tree = parse_clause(clause.body, clause.offset)
            assert parse_clause(render(tree)) == tree
            lower(tree, SCHEMA)
    except OstinatoError as error:
        if error.span is not None:
            assert 0 <= error.span.start <= error.span.end <= len(text) + 1
        assert str(error.within(text))


def test_the_texts_are_good_before_they_are_damaged():
    for text in STATEMENTS:
        for clause in split_statement(text).clauses:
            assert lower(parse_clause(clause.body, clause.offset), SCHEMA).measures
