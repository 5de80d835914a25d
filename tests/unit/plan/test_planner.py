"""What the planner makes of negation, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ostinato.algebra.pattern import Alternation, Negation, Pattern, Repetition, Sequence, Variable
from ostinato.algebra.policies import Selection
from ostinato.algebra.query import Condition, Definition, MatchQuery, Within
from ostinato.base.errors import UnsupportedError
from ostinato.base.span import Span
from ostinato.expr.nodes import Call, Field, Literal, current
from ostinato.expr.types import INT, STRING
from ostinato.expr.typing.infer import infer
from ostinato.expr.typing.schema import Schema
from ostinato.plan.planner import plan
from ostinato.plan.pushdown import pushdown
from ostinato.rewrite.rules import rewrite

RUNS = [selection for selection in Selection if selection is not Selection.PREFERRED]


A, B, X = map(Variable, "abx")


def negated(selection: Selection, within: Within | None, position: int, negation: Negation, *definitions: Definition) -> MatchQuery:
    parts: list[Pattern] = [A, Repetition(B, 0, 1)]
    pattern = Sequence((*parts[:position], negation, *parts[position:]))
    return MatchQuery("t", Schema((("ts", INT), ("v", INT))), pattern, definitions, selection, time="ts", within=within)


@pytest.mark.parametrize("selection", RUNS)
def test_a_negation_knows_where_it_can_stand(selection: Selection) -> None:
    small = Condition(infer(Call("lt", (current(Field("v")), Literal(3))), Schema((("ts", INT), ("v", INT)))))
    for position, at_ends in ((0, (True, False)), (1, (False, True)), (2, (False, True))):
        (found,) = plan(rewrite(negated(selection, Within(3), position, Negation(X), Definition("x", (small,))))[0]).negations
        assert (found.before, found.leads, found.trails) == (position, *at_ends)
        assert found.is_static and found.items[0].bit >= 0


def test_rows_that_are_forbidden_are_not_filtered_away() -> None:
    schema = Schema((("ts", INT), ("v", INT)))
    is_one, is_two = (Condition(infer(Call("eq", (current(Field("v")), Literal(value))), schema)) for value in (1, 2))
    bare = MatchQuery("t", schema, Variable("a"), (Definition("a", (is_one,)),), Selection.NEXT, time="ts", within=Within(3))
    anything = replace(bare, pattern=Sequence((A, Negation(X))))
    query = replace(anything, definitions=(*bare.definitions, Definition("x", (is_two,))))
    assert len(plan(bare).prefilter_bits) == 1 and len(plan(query).prefilter_bits) == 2
    assert pushdown(bare) == "((`v` = 1))" and pushdown(query) == "((`v` = 1) OR (`v` = 2))"
    assert plan(anything).prefilter_bits == () and pushdown(anything) is None


def test_an_event_type_that_engines_would_read_differently_is_no_part_of_the_filter() -> None:
    schema = Schema((("ts", INT), ("kind", STRING)))
    small = Condition(infer(Call("lt", (current(Field("ts")), Literal(9))), schema))
    odd, plain = Definition("a", (small,), "a\\b"), Definition("b", (), "b")
    query = MatchQuery(
        "t", schema, Sequence((Variable("a"), Variable("b"))), (odd, plain), Selection.NEXT, time="ts", within=Within(3), type_column="kind"
    )
    assert pushdown(query) == "((`ts` < 9) OR (`kind` = 'b'))"
    assert pushdown(replace(query, definitions=(replace(odd, conditions=()), plain))) is None
    variable = replace(plain, event_type="${env:HOME}")  # Spark would compare with the home directory
    assert pushdown(replace(query, definitions=(odd, variable))) is None


def test_an_end_without_a_window_is_refused_where_it_stands() -> None:
    with pytest.raises(UnsupportedError, match="needs a window") as caught:
        plan(negated(Selection.NEXT, None, 1, Negation(X, Span(3, 8))))
    assert caught.value.span == Span(3, 8)


def test_row_patterns_have_no_negation() -> None:
    with pytest.raises(UnsupportedError, match="belongs to event patterns"):
        plan(negated(Selection.PREFERRED, Within(3), 1, Negation(X)))


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (
            Sequence((A, Alternation((Sequence((Negation(X, Span(3, 8)), B)), Variable("c"))))),
            "between the parts of the pattern's sequence",
        ),
        (Sequence((A, Negation(Sequence((X, Negation(Variable("y")))), Span(3, 8)), B)), "forbids an event, or a sequence"),
        (Sequence((A, Negation(Repetition(X, 1, None), Span(3, 8)), B)), "forbids an event, or a sequence"),
        (Sequence((A, Negation(Sequence(()), Span(3, 8)), B)), "forbids an event, or a sequence"),
    ],
)
def test_negations_that_only_have_a_meaning_are_refused_where_they_stand(pattern: Pattern, said: str) -> None:
    with pytest.raises(UnsupportedError, match=said) as caught:
        plan(MatchQuery("t", Schema((("ts", INT), ("v", INT))), pattern, (), Selection.NEXT, time="ts", within=Within(3)))
    assert caught.value.span == Span(3, 8)
