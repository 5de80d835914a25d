"""What the planner refuses."""

from __future__ import annotations

import pytest

from ostinato.algebra.pattern import Sequence, Variable
from ostinato.algebra.policies import Selection
from ostinato.algebra.query import Definition, MatchQuery, Negation, Within
from ostinato.base.errors import UnsupportedError
from ostinato.base.span import Span
from ostinato.expr.schema import Schema
from ostinato.expr.types import INT
from ostinato.plan.planner import plan
from ostinato.rewrite.rules import rewrite

RUNS = [selection for selection in Selection if selection is not Selection.PREFERRED]


@pytest.mark.parametrize("selection", RUNS)
def test_negation_is_refused_where_it_stands(selection: Selection) -> None:
    negation = Negation((Definition("x"),), 1, Span(3, 8))
    query = MatchQuery(
        "t", Schema((("ts", INT),)), Sequence((Variable("a"),)), (), selection, time="ts", within=Within(3), negations=(negation,)
    )
    with pytest.raises(UnsupportedError) as caught:
        plan(rewrite(query)[0])
    assert caught.value.message == "Negation is not evaluated yet"
    assert caught.value.hint == "Leave the negated component out and filter the matches afterwards"
    assert caught.value.span == Span(3, 8)
