"""Random queries with negation: single events and sequences of two or three, at the ends, in the middle, and adjacent ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from hypothesis import strategies as st

from ostinato.algebra.pattern import Negation, Pattern, Repetition, Sequence, Variable, variables_of
from ostinato.algebra.policies import Output, Selection
from ostinato.algebra.query import Condition, Definition, MatchQuery, Unit, Within
from ostinato.expr.typing.infer import infer
from ostinato.testing import predicates
from ostinato.testing.strategies import OF_MATCHES, run_queries
from ostinato.testing.streams import KINDS, SCHEMA

_WINDOWS = st.one_of(st.integers(0, 6).map(Within), st.integers(1, 6).map(lambda length: Within(length, Unit.EVENTS)))


@st.composite
def negated_queries(draw: st.DrawFn, selections: tuple[Selection, ...] = (), outputs: tuple[Output, ...] = OF_MATCHES) -> MatchQuery:
    """SASE+ patterns with one or two negations, and with a window wherever one is needed."""
    query = draw(run_queries(selections, outputs))
    items = query.pattern.items if isinstance(query.pattern, Sequence) else (query.pattern,)
    positions = draw(st.lists(st.integers(0, len(items)), min_size=1, max_size=2).map(sorted))
    names, typed = variables_of(query.pattern), query.type_column is not None
    negated = [draw(_negated(number, names, typed)) for number in range(len(positions))]
    bare = query.within is None and any(_may_be_empty(items[:place]) or _may_be_empty(items[place:]) for place in positions)
    return replace(
        query,
        pattern=Sequence(tuple(_with_negations(items, positions, negated))),
        definitions=(*query.definitions, *(item for items in negated for item in items)),
        within=draw(_WINDOWS) if bare else query.within,
    )


def _with_negations(items: tuple[Pattern, ...], positions: list[int], negated: list[tuple[Definition, ...]]) -> Iterator[Pattern]:
    for place in range(len(items) + 1):
        for definitions in (definitions for at, definitions in zip(positions, negated, strict=True) if at == place):
            yield Negation(Sequence(tuple(Variable(definition.variable) for definition in definitions)))
        yield from items[place : place + 1]


def _may_be_empty(items: tuple[Pattern, ...]) -> bool:
    return all(isinstance(item, Repetition) and item.at_least == 0 for item in items)


@cache
def _negated(number: int, names: tuple[str, ...], typed: bool) -> st.SearchStrategy[tuple[Definition, ...]]:
    first, second, third = f"x{number}", f"y{number}", f"z{number}"
    a = _definition(first, names, typed)
    b = _definition(second, (*names, first), typed)
    c = _definition(third, (*names, first, second), typed)
    return st.one_of(st.tuples(a), st.tuples(a), st.tuples(a, b), st.tuples(a, b), st.tuples(a, b, c))


def _definition(name: str, others: tuple[str, ...], typed: bool) -> st.SearchStrategy[Definition]:
    parts = st.one_of(predicates.static(), predicates.key(others), predicates.dynamic(others))
    condition = predicates.combined(parts).map(lambda expr: Condition(infer(expr, SCHEMA)))
    event_type = st.sampled_from(KINDS) if typed else st.none()
    return st.builds(Definition, st.just(name), st.lists(condition, max_size=2).map(tuple), event_type)
