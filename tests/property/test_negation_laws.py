"""Laws that negation has to obey by its definition, whatever the query and the stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from hypothesis import assume, given, settings

from ostinato.algebra.pattern import Negation, Pattern, Sequence, Variable, variables_of
from ostinato.algebra.policies import Output, Selection
from ostinato.algebra.query import MatchQuery
from ostinato.algebra.text import to_text
from ostinato.reference import evaluate, output
from ostinato.rewrite.rules import rewrite
from ostinato.testing.negations import negated_queries
from ostinato.testing.strategies import streams

quick = settings(max_examples=50, deadline=None)
Rows = list[dict[str, Any]]


def with_negations(query: MatchQuery, change: Callable[[int, Negation], Pattern]) -> MatchQuery:
    """Each negation, with its number, as what `change` makes of it."""
    items = query.pattern.items if isinstance(query.pattern, Sequence) else (query.pattern,)
    numbers = {place: number for number, place in enumerate(place for place, item in enumerate(items) if isinstance(item, Negation))}
    changed = (change(numbers[place], item) if isinstance(item, Negation) else item for place, item in enumerate(items))
    return replace(query, pattern=Sequence(tuple(changed)))


def without_negations(query: MatchQuery) -> MatchQuery:
    return with_negations(query, lambda number, negation: Sequence(()))


def found(query: MatchQuery, rows: Rows, **changes: Any) -> set[Any]:
    return {match.rows for match in evaluate(replace(query, **changes), rows)}


def _only(kept: int, number: int, negation: Negation) -> Pattern:
    return negation if number == kept else Sequence(())


@quick
@given(negated_queries(outputs=(Output.ALL,)), streams(max_size=8))
def test_negation_filters_and_each_one_by_itself(query: MatchQuery, rows: Rows) -> None:
    alone = [with_negations(query, partial(_only, kept)) for kept in range(len(query.negations))]
    surviving = [found(single, rows) for single in alone]
    assert all(some <= found(without_negations(query), rows) for some in surviving)
    assert found(query, rows) == set.intersection(*surviving)


@quick
@given(negated_queries(outputs=(Output.ALL,)), streams(max_size=8))
def test_a_single_forbidden_event_does_not_depend_on_the_selection(query: MatchQuery, rows: Rows) -> None:
    assume(all(len(variables_of(negation.item)) == 1 for negation in query.negations))
    of_any = found(query, rows, selection=Selection.ANY)
    assert found(query, rows) == found(without_negations(query), rows) & of_any


@quick
@given(negated_queries(selections=(Selection.STRICT, Selection.PARTITION, Selection.NEXT), outputs=(Output.ALL,)), streams(max_size=8))
def test_outputs_choose_among_the_survivors(query: MatchQuery, rows: Rows) -> None:
    every = found(query, rows)
    first = evaluate(replace(query, output=Output.FIRST), rows)
    assert {match.rows for match in first} <= every
    assert len({match.start for match in first}) == len(first)
    apart = evaluate(replace(query, output=Output.NONOVERLAPPING), rows)
    assert {match.rows for match in apart} <= every
    assert {match.key for match in apart} == {match.key for match in evaluate(query, rows)}
    assert output(replace(query, output=Output.COUNT), rows) == [{"count": len(every)}]


@quick
@given(negated_queries(outputs=(Output.ALL,)), streams(max_size=8))
def test_a_longer_forbidden_sequence_forbids_less(query: MatchQuery, rows: Rows) -> None:
    """Under skip till any match whatever holds the whole sequence holds its first event."""
    shorter = with_negations(query, lambda _, negation: Negation(Variable(variables_of(negation.item)[0])))
    assert found(shorter, rows, selection=Selection.ANY) <= found(query, rows, selection=Selection.ANY)


@quick
@given(negated_queries(), streams(max_size=8))
def test_rewrites_keep_the_meaning(query: MatchQuery, rows: Rows) -> None:
    rewritten, _ = rewrite(query)
    assert output(rewritten, rows) == output(query, rows)


@quick
@given(negated_queries())
def test_the_text_tells_where_it_stands(query: MatchQuery) -> None:
    assert to_text(query) != to_text(without_negations(query))
    assert isinstance(query.pattern, Sequence)
    moved = (*query.pattern.items[1:], query.pattern.items[0])
    assume(moved != query.pattern.items)
    assert to_text(query) != to_text(replace(query, pattern=Sequence(moved)))
