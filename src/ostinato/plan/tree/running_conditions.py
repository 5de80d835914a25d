"""Conditions about the events of a list one by one belong to the list, on every way; where what they speak of has no event, they say
nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ostinato.algebra.query import Condition, Definition, MatchQuery
from ostinato.expr.fold import fold
from ostinato.expr.nodes import Aggregate, Call, Expr, Literal, Nav
from ostinato.expr.types import BOOL, INT
from ostinato.plan.tree.branches import HOLDS, Way, named_in


@dataclass(frozen=True)
class _Around:
    """What a list has around it on a way: variables that have events, and members that select nothing."""

    bound: frozenset[str]
    empty: frozenset[str]


def guarded(query: MatchQuery, ways: Iterable[Way]) -> MatchQuery:
    """The same query; conditions of its lists hold where they say nothing."""
    around: dict[str, list[_Around]] = {}
    for way in ways:
        for name, found in _around(way, frozenset()):
            around.setdefault(name, []).append(found)
    return replace(query, definitions=tuple(_guarded(one, around.get(one.variable, [])) for one in query.definitions))


def _around(way: Way, outside: frozenset[str]) -> Iterator[tuple[str, _Around]]:
    bound = outside | {*way.variables}
    for name in way.variables:
        yield name, _Around(bound, way.empty)
    for negated in way.negations:
        yield from _around(negated.way, bound)


def _guarded(definition: Definition, around: list[_Around]) -> Definition:
    found = (_where_it_applies(condition, definition.variable, around) for condition in definition.conditions)
    return replace(definition, conditions=tuple(condition for condition in found if condition.expr != HOLDS))


def _where_it_applies(condition: Condition, variable: str, around: list[_Around]) -> Condition:
    absent = [_absent(name, condition.expr, around) for name in sorted(named_in(condition.expr) - {variable})]
    guards = [one for one in absent if one is not None]
    return replace(condition, expr=fold(Call("or", (*guards, condition.expr), type=BOOL))) if guards else condition


def _absent(name: str, condition: Expr, around: list[_Around]) -> Expr | None:
    """That a variable is not there, as the condition asks for it: None where it always is. One that is only counted is there with no event,
    too, if any of those has one that are there with it alone."""
    counted = _is_counted(name, condition)
    there = [name in one.bound or (counted and name in one.empty) for one in around]
    if all(there):
        return None
    known = [one.bound for one, is_there in zip(around, there, strict=True) if is_there]
    others = frozenset[str]().union(*(one.bound for one, is_there in zip(around, there, strict=True) if not is_there))
    witnesses = frozenset[str]().union(*known) - others if counted else frozenset((name,))
    absent = [Call("eq", (Aggregate("count", one, None, type=INT), Literal(0, type=INT)), type=BOOL) for one in sorted(witnesses)]
    return Literal(True, type=BOOL) if not absent else absent[0] if len(absent) == 1 else Call("and", tuple(absent), type=BOOL)


def _is_counted(name: str, condition: Expr) -> bool:
    """Whether nothing is asked of its events but how many there are."""
    asked = [node for node in condition.walk() if isinstance(node, Nav | Aggregate) and node.variable == name]
    return all(isinstance(node, Aggregate) and node.function == "count" for node in asked)
