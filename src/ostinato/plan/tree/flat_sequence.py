"""Nested patterns in which nothing is left of the nesting: a sequence of events, which the evaluations of event patterns know."""

from __future__ import annotations

from dataclasses import replace

from ostinato.algebra.pattern import Conjunction, Pattern, Repetition, Sequence, Variable, Where, parts_of, variables_of
from ostinato.algebra.policies import MatchOrder
from ostinato.algebra.query import Condition, MatchQuery, When
from ostinato.expr.nodes import Aggregate, Expr
from ostinato.plan.tree.branches import Way, named_in, ways_of
from ostinato.plan.tree.equality_keys import drop_equalities, keyed


def flat_sequence(query: MatchQuery, by_key: bool = True) -> MatchQuery | str:
    """The query as a sequence of events with their conditions, or why it is none. Sequences in a sequence are one; a condition on several
    events is one of the last of them. What the order of listing says is lost: it is for those who count."""
    optional = _optional(query.pattern)
    kleene = frozenset(query.kleene)
    ways = ways_of(_with_all(query.pattern))
    against = _against(ways, kleene)
    if against is not None:
        return against
    (way,) = ways
    divided = keyed(query, ways_of(query.pattern), kleene) if by_key else query
    if divided is not query:
        drop_equalities(divided.partition[0], way)
    if _compares(query, way, optional):
        return "a condition compares an event that may be left out"
    conditions: dict[str, list[Condition]] = {name: [] for name in way.variables}
    for condition in way.conditions:
        conditions[_last_named(condition, way)].append(Condition(condition, When.EACH))
    definitions = tuple(
        replace(definition, conditions=(*definition.conditions, *conditions[definition.variable])) for definition in query.definitions
    )
    return replace(divided, pattern=_sequence(way, kleene, optional), definitions=definitions, listed=MatchOrder.COMPLETION)


def _optional(pattern: Pattern) -> frozenset[str]:
    """The members that may be left empty."""
    if isinstance(pattern, Repetition) and pattern.at_least == 0:
        return frozenset(variables_of(pattern))
    return frozenset[str]().union(*map(_optional, parts_of(pattern)))


def _with_all(pattern: Pattern) -> Pattern:
    """The pattern in which these have to be there."""
    match pattern:
        case Repetition(Variable() as single, 0, at_most):
            return single if at_most == 1 else Repetition(single, 1, at_most)
        case Sequence(items):
            return Sequence(tuple(map(_with_all, items)))
        case Conjunction(items):
            return Conjunction(tuple(map(_with_all, items)), pattern.span)
        case Where(item, conditions):
            return Where(_with_all(item), conditions)
    return pattern


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


def _compares(query: MatchQuery, way: Way, optional: frozenset[str]) -> bool:
    """Where a member is left empty, what is asked of it together with others says nothing here, and is unknown in a sequence; and how many
    events it has is asked for all the same."""
    running = any(named_in(condition.expr) & optional - {one.variable} for one in query.definitions for condition in one.conditions)
    compared = any(len(named_in(condition)) > 1 and named_in(condition) & optional for condition in way.conditions)
    counted = any(isinstance(node, Aggregate) and node.variable in optional for condition in way.conditions for node in condition.walk())
    return running or compared or counted


def _last_named(condition: Expr, way: Way) -> str:
    named = named_in(condition)
    return next((name for name in reversed(way.variables) if name in named), way.variables[0])


def _sequence(way: Way, kleene: frozenset[str], optional: frozenset[str]) -> Pattern:
    items = tuple(_item(name, name in kleene, name in optional) for name in way.variables)
    return Sequence(items) if len(items) > 1 else items[0]


def _item(name: str, repeats: bool, may_be_empty: bool) -> Pattern:
    single = Variable(name)
    return Repetition(single, int(not may_be_empty), None if repeats else 1) if repeats or may_be_empty else single
