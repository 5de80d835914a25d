from __future__ import annotations

import pytest

from ostinato.expr.fold import fold
from ostinato.expr.nodes import Aggregate, Anchor, Classifier, Field, Literal, MatchNumber, Nav, current
from ostinato.expr.reading.parse import parse_expression
from ostinato.expr.text import to_text
from ostinato.expr.types import BOOL, FLOAT, INT, STRING, TIMESTAMP
from ostinato.expr.typing.infer import infer
from ostinato.expr.typing.schema import Schema

SCHEMA = Schema((("i", INT), ("f", FLOAT), ("s", STRING), ("b", BOOL), ("ts", TIMESTAMP), ("order", INT), ("two words", INT)))


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("f > 2 * 3 + 1", "f > 7.0e0"),
        ("i > 2 + 3", "i > 5"),
        ("ts > timestamp '2024-01-01' + interval '1' day", "ts > TIMESTAMP '2024-01-02 00:00:00'"),
        ("upper('a') = s", "'A' = s"),
        ("1 = 1 and b", "b"),
        ("b and 1 = 2", "FALSE"),
        ("b or 1 = 1", "TRUE"),
        ("b and (1 = 1 or i = 2) and i = 3", "b AND i = 3"),
        ("case when 1 = 2 then i when 1 = 1 then 5 else i end", "5"),
        ("case when b then 1 when true then 2 else 3 end", "CASE WHEN b THEN 1 ELSE 2 END"),
        ("case when null then 1 end", "NULL"),
        ("9223372036854775807 + 1", "9223372036854775807 + 1"),
        ("case when b then 1 else cast('x' as bigint) end", "CASE WHEN b THEN 1 ELSE CAST('x' AS BIGINT) END"),
        ("1 / 0", "NULL"),
    ],
)
def test_constants_are_computed_and_errors_stay(text, folded):
    assert to_text(fold(infer(parse_expression(text), SCHEMA))) == folded


def test_a_navigation_to_a_constant_stays_and_its_body_is_folded():
    nav = infer(Nav("A", Anchor.FIRST, 0, 0, parse_expression("1 + 1")), SCHEMA)
    assert fold(nav) == Nav("A", Anchor.FIRST, 0, 0, Literal(2))


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (current(Field("price")), "LAST(price)"),
        (Nav("A", Anchor.FIRST, 2, 0, parse_expression("f + 1")), "FIRST(f + 1, 2)"),
        (Nav("A", Anchor.LAST, 0, 0, Field("f")), "LAST(A.f)"),
        (Nav("A", Anchor.LAST, 1, -1, Field("f")), "PREV(LAST(A.f, 1))"),
        (Nav(None, Anchor.LAST, 0, 3, Field("order")), "NEXT(LAST(order), 3)"),
        (Nav("my var", Anchor.LAST, 0, 0, Field("two words")), 'LAST("my var"."two words")'),
        (Aggregate("count", None, None), "COUNT(*)"),
        (Aggregate("count", "A", None), "COUNT(A.*)"),
        (Aggregate("sum", "A", Field("f")), "SUM(A.f)"),
        (Aggregate("avg", "A", Field("f"), before=True), "AVG_BEFORE(A.f)"),
        (MatchNumber(), "MATCH_NUMBER()"),
        (Classifier(), "CLASSIFIER()"),
        (Classifier("A", Anchor.FIRST, 1), "FIRST(CLASSIFIER(A), 1)"),
        (Literal(float("inf")), "CAST('inf' AS DOUBLE)"),
        (parse_expression("(i + 1) * -(-2) - f"), "(i + 1) * -(-2) - f"),
        (parse_expression("(a and b) and c"), "a AND b AND c"),
        (parse_expression("a and (b and c)"), "a AND (b AND c)"),
        (parse_expression("(a = b) = c"), "(a = b) = c"),
        (parse_expression("not (not a)"), "NOT NOT a"),
    ],
)
def test_canonical_text(expr, text):
    assert to_text(expr) == text
