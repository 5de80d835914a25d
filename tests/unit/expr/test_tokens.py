from __future__ import annotations

from decimal import Decimal

import pytest

from ostinato.base.errors import QuerySyntaxError
from ostinato.base.span import Span
from ostinato.expr.reading.tokens import tokenize


def shown(text: str) -> list[tuple[str, object]]:
    return [(token.kind, token.value) for token in tokenize(text)[:-1]]


def test_kinds_and_values():
    assert shown("price >= 1.5") == [("name", "price"), ("op", ">="), ("number", Decimal("1.5"))]
    assert shown("""'it''s' "a ""b" `c d`""") == [("string", "it's"), ("quoted", 'a "b'), ("quoted", "c d")]
    assert shown("1 .5 2. 1e3 1.5E-2") == [("number", n) for n in (1, Decimal("0.5"), Decimal("2."), 1000.0, 0.015)]


def test_dots_between_indices_are_not_fractions():
    assert [value for _, value in shown("a[..5].x")] == ["a", "[", "..", 5, "]", ".", "x"]
    assert [value for _, value in shown("1..3")] == [1, "..", 3]


def test_comments_are_skipped():
    assert shown("a -- rest of line\n/* b\n c */ + d") == [("name", "a"), ("op", "+"), ("name", "d")]


def test_spans_count_from_the_offset():
    tokens = tokenize("a  bc", offset=10)
    assert [t.span for t in tokens] == [Span(10, 11), Span(13, 15), Span(15, 15)]


@pytest.mark.parametrize(
    ("text", "message", "start"),
    [
        ("a 'b", "never closed", 2),
        ('"', "never closed", 0),
        ("/* x", "never closed", 0),
        ("12ab", "neither a number nor a name", 0),
        ("a \\ b", "Unexpected character", 2),
        ('""', "cannot be empty", 0),
        ("9" * 500, "too long", 0),
    ],
)
def test_bad_text(text, message, start):
    with pytest.raises(QuerySyntaxError, match=message) as caught:
        tokenize(text)
    assert caught.value.span.start == start


def test_logic_and_comparison_as_papers_print_them():
    printed = tokenize("a ∧ ¬b ∨ c ≤ 1 ≥ 2 ≠ 3 × 4 − 5")
    written = tokenize("a AND NOT b OR c <= 1 >= 2 != 3 * 4 - 5")
    assert [(token.kind, token.text, token.value) for token in printed] == [(token.kind, token.text, token.value) for token in written]
    assert printed[1].span == Span(2, 3)
