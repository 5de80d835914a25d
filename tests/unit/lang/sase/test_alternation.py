"""Alternatives in a pattern: how they are written, what they mean in the algebra."""

from __future__ import annotations

import pytest
from tests.unit.lang.sase.schemas import EVENTS

from ostinato.algebra.pattern import Alternation, Repetition, Sequence, Variable
from ostinato.algebra.text import to_text
from ostinato.base.errors import UnsupportedError
from ostinato.lang.sase import lower, parse, render
from ostinato.plan.gaps import gaps_of

A, B, C, D, E, F = (Variable(name) for name in "abcdef")


def pattern(text: str):
    return lower(parse(f"PATTERN {text}"), {"events": EVENTS}, type_by="kind").pattern


def test_the_three_spellings_are_one():
    wanted = Sequence((A, Alternation((B, C)), D))
    for choice in ("(B b | C c)", "(B b || C c)", "(B b OR C c)", "(B b or C c)", "B b | C c", "ANY(B b, C c)", "OR(B b, C c)"):
        assert pattern(f"SEQ(A a, {choice}, D d)") == wanted, choice


def test_alternatives_may_be_lists_and_sequences():
    text = "SEQ(A a, (B b | C+ c[ ] | SEQ(D d, E? e)), F f)"
    assert pattern(text) == Sequence((A, Alternation((B, Repetition(C, 1, None), Sequence((D, Repetition(E, 0, 1))))), F))


def test_nested_alternatives():
    assert pattern("SEQ(A a, (B b | SEQ(C c, (D d | E e))))") == Sequence((A, Alternation((B, Sequence((C, Alternation((D, E))))))))


def test_the_whole_pattern_may_be_a_choice():
    assert pattern("SEQ(A a, B b) | C c") == Sequence((Alternation((Sequence((A, B)), C)),))


def test_parts_in_parentheses_and_sequences_in_sequences_are_just_more_of_it():
    assert pattern("SEQ(A a, SEQ(B b, C c), (D d))") == Sequence((A, B, C, D))
    assert pattern("SEQ(A a, (B b | (C c | D d)))") == Sequence((A, Alternation((B, C, D))))
    assert pattern("SEQ(A a, ANY(B b))") == Sequence((A, B))


@pytest.mark.parametrize(
    "text",
    [
        "PATTERN SEQ(A a, (B b | C+ c[ ] | SEQ(D d, E e)), F f)",
        "PATTERN SEQ((A a | SEQ(B b, (C c | D+ d[ ]), E e)))",
        'PATTERN SEQ(A a, ~(X x), (B b | "or" c), ~(Y y), F f)',
    ],
)
def test_round_trip(text):
    tree = parse(text)
    assert render(tree) == text
    assert parse(render(tree)) == tree


def test_a_negation_counts_the_components_before_it():
    query = lower(parse("PATTERN SEQ(A a, (B b | SEQ(C c, D d)), ~(E x), F f)"), {"events": EVENTS}, type_by="kind")
    assert [gap.position for gap in gaps_of(query.pattern)] == [4]
    assert "PATTERN a (b | c d) ~(x) f" in to_text(query)


def test_a_negation_behind_alternatives_does_not_stand_at_an_end():
    text = "PATTERN SEQ((A a | B b), ~(E x), {})"
    lower(parse(text.format("F f")), {"events": EVENTS}, type_by="kind")
    with pytest.raises(UnsupportedError):
        lower(parse(text.format("F* f[ ]")), {"events": EVENTS}, type_by="kind")


def test_deep_nesting_is_refused():
    with pytest.raises(UnsupportedError, match="nested more than"):
        parse("PATTERN " + "(" * 5000 + "A a" + ")" * 5000)
