"""Canonical text of patterns and queries."""

from __future__ import annotations

import pytest

from ostinato.algebra.pattern import (
    Alternation,
    Conjunction,
    Empty,
    Negation,
    Pattern,
    Repetition,
    Sequence,
    Variable,
    Where,
    is_nested,
    negations_of,
    variables_of,
)
from ostinato.algebra.policies import NullKeys, Output, Selection, Skip, Ties
from ostinato.algebra.query import Condition, Definition, MatchQuery, Measure, OrderKey, Unit, When, Within
from ostinato.algebra.text import pattern_text, to_text
from ostinato.expr.nodes import Aggregate, Anchor, Call, Field, Literal, Nav, current
from ostinato.expr.types import INT, STRING
from ostinato.expr.typing.infer import infer
from ostinato.expr.typing.schema import Schema

A, B, X, Y = map(Variable, ("A", "b c", "x", "y"))
LESS, MORE = (Call(name, tuple(Nav(of, Anchor.LAST, 0, 0, Field("k")) for of in "xy")) for name in ("lt", "gt"))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (Empty(), "()"),
        (Sequence(()), "()"),
        (Sequence((A, B)), 'A "b c"'),
        (Alternation((A, Sequence((A, B)), Empty())), 'A | A "b c" | ()'),
        (Sequence((Alternation((A, B)), A)), '(A | "b c") A'),
        (Repetition(Sequence((A, A)), 1, None), "(A A)+"),
        (Repetition(Repetition(A, 0, 1), 2, 3), "(A?){2,3}"),
        (Repetition(Repetition(A, 0, 1, greedy=False), 0, None), "(A??)*"),
        (Repetition(A, 2, 2, greedy=False), "A{2}?"),
        (Repetition(A, 2, None), "A{2,}"),
        (Repetition(Empty(), 0, None), "()*"),
        (Conjunction((A, Negation(B), Sequence((X, Y)), Alternation((X, Y)))), 'A & ~("b c") & (x y) & (x | y)'),
        (Alternation((Conjunction((X, Y)), A)), "(x & y) | A"),
        (
            Where(Sequence((X, Where(Y, (LESS,)))), (LESS, MORE)),
            "[x [y WHERE LAST(x.k) < LAST(y.k)] WHERE LAST(x.k) < LAST(y.k), LAST(x.k) > LAST(y.k)]",
        ),
        (Sequence((Conjunction((X, Y)), A)), "(x & y) A"),
    ],
)
def test_pattern(pattern: Pattern, text: str) -> None:
    assert pattern_text(pattern) == text


def test_what_a_nested_pattern_holds() -> None:
    pattern = Where(Conjunction((A, Negation(B), Where(Sequence((Negation(X), Y)), (LESS,)))), (MORE,))
    assert variables_of(pattern) == ("A", "y")
    assert negations_of(pattern) == (Negation(B), Negation(X))


@pytest.mark.parametrize(
    ("pattern", "nested"),
    [
        (A, False),
        (Sequence((A, Negation(Sequence((X, Y))), Alternation((Sequence((X, Y)), B)), Sequence((A, B)))), False),
        (Conjunction((A, B)), True),
        (Sequence((A, Alternation((Sequence((X, Where(Y, (LESS,)))), B)))), True),
        (Sequence((A, Sequence((Negation(X), Y)))), False),
        (Sequence((A, Negation(Sequence((X, Where(Y, (LESS,))))))), True),
        (Negation(Repetition(Conjunction((X, Y)), 1, None)), True),
    ],
)
def test_nested_patterns(pattern: Pattern, nested: bool) -> None:
    assert is_nested(pattern) is nested


SCHEMA = Schema((("k", INT), ("my p", STRING)))


def test_row_pattern() -> None:
    expr = infer(Call("gt", (current(Field("k")), Literal(1))), SCHEMA)
    query = MatchQuery(
        "t",
        SCHEMA,
        Repetition(A, 1, None),
        (Definition("A", (Condition(expr),)),),
        Selection.PREFERRED,
        time="k",
        order=(OrderKey("k"), OrderKey("my p", descending=True, nulls_first=True)),
        partition=("my p",),
        skip=Skip.TO_NEXT_ROW,
        measures=(Measure("n", infer(Aggregate("count", None, None), SCHEMA)),),
        measured_partition=True,
    )
    assert to_text(query).splitlines() == [
        'FROM t (k integer, "my p" string)',
        'PARTITION BY "my p"',
        'ORDER BY k, "my p" DESC NULLS FIRST',
        "TIME k",
        "SELECTION preferred",
        "SKIP to next row",
        "PATTERN A+",
        "DEFINE A",
        "  LAST(k) > 1",
        "MEASURES WITH PARTITION",
        "  n = COUNT(*)",
    ]


def test_runs() -> None:
    true = infer(Literal(True), SCHEMA)
    query = MatchQuery(
        "t",
        SCHEMA,
        Sequence((Repetition(A, 1, None),)),
        (Definition("A", (Condition(true, When.LEAVING),), event_type="it's"),),
        Selection.NEXT,
        time="k",
        order=(OrderKey("k"),),
        partition=("my p",),
        null_keys=NullKeys.NEVER,
        within=Within(5, Unit.EVENTS),
        output=Output.FIRST,
        ties=Ties.EPOCH,
        type_column="my p",
        kleene=("A",),
    )
    assert to_text(query).splitlines()[1:] == [
        'PARTITION BY "my p" NULLS NEVER',
        "ORDER BY k",
        "TIME k TIES EPOCH",
        'TYPE "my p"',
        "SELECTION skip_till_next_match",
        "OUTPUT first",
        "PATTERN A+",
        "WITHIN 5 events",
        "DEFINE A : 'it''s'",
        "  leaving: TRUE",
        "LISTS A",
    ]


def test_negations_stand_in_the_pattern() -> None:
    true = infer(Literal(True), SCHEMA)
    query = MatchQuery(
        "t",
        SCHEMA,
        Sequence(
            (Negation(X), A, Negation(Sequence((Y, Variable("z w")))), Negation(Alternation((X, Y))), Repetition(B, 1, None), Negation(Y))
        ),
        (Definition("A"), Definition("b c"), Definition("z w", (Condition(true),), event_type="Z")),
        Selection.ANY,
    )
    assert to_text(query).splitlines()[3:] == [
        'PATTERN ~(x) A ~(y "z w") ~(x | y) "b c"+ ~(y)',
        "DEFINE A",
        'DEFINE "b c"',
        "DEFINE \"z w\" : 'Z'",
        "  TRUE",
    ]


def test_a_negation_beside_a_pattern_of_one_variable() -> None:
    query = MatchQuery("t", SCHEMA, Sequence((A, Negation(X))), (), Selection.NEXT)
    assert "PATTERN A ~(x)" in to_text(query).splitlines()
