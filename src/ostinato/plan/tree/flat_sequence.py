"""Nested patterns in which nothing is left of the nesting: a sequence of events, which the evaluations of event patterns know."""

from __future__ import annotations

from dataclasses import replace

from ostinato.algebra.pattern import Pattern, Repetition, Sequence, Variable
from ostinato.algebra.policies import MatchOrder
from ostinato.algebra.query import Condition, MatchQuery, When
from ostinato.expr.nodes import Expr
from ostinato.plan.tree.branches import Way, named_in, ways_of
from ostinato.plan.tree.equality_keys import drop_equalities, keyed


def flat_sequence(query: MatchQuery, by_key: bool = True) -> MatchQuery | str:
    """The query as a sequence of events with their conditions, or why it is none. Sequences in a sequence are one; a condition on several
    events is one of the last of them. What the order of listing says is lost: it is for those who count."""
    kleene = frozenset(query.kleene)
    ways = ways_of(query.pattern)
    against = _against(ways, kleene)
    if against is not None:
        return against
    (way,) = ways
    divided = keyed(query, ways, kleene) if by_key else query
    if divided is not query:
        drop_equalities(divided.partition[0], way)
    conditions: dict[str, list[Condition]] = {name: [] for name in way.variables}
    for condition in way.conditions:
        conditions[_last_named(condition, way)].append(Condition(condition, When.EACH))
    definitions = tuple(
        replace(definition, conditions=(*definition.conditions, *conditions[definition.variable])) for definition in query.definitions
    )
    return replace(divided, pattern=_sequence(way, kleene), definitions=definitions, listed=MatchOrder.COMPLETION)


def _against(ways: tuple[Way, ...], kleene: frozenset[str]) -> str | None:
    if len(ways) > 1:
        return "it has alternatives"
    (way,) = ways
    if way.negations:
        return "something must not be there"
    follows = {*way.follows}
    if any(pair not in follows for pair in zip(way.variables, way.variables[1:], strict=False)):
        return "some of its events come in any order"
    if any(named_in(condition) & kleene for condition in way.conditions):
        return "a condition looks at a finished list"
    return None


def _last_named(condition: Expr, way: Way) -> str:
    named = named_in(condition)
    return next((name for name in reversed(way.variables) if name in named), way.variables[0])


def _sequence(way: Way, kleene: frozenset[str]) -> Pattern:
    items = tuple(Repetition(Variable(name), 1, None) if name in kleene else Variable(name) for name in way.variables)
    return Sequence(items) if len(items) > 1 else items[0]
