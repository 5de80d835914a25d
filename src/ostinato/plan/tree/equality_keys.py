"""Columns by which all events of a match are equal, those that must not be there too: such a query falls apart by their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ostinato.algebra.policies import NullKeys
from ostinato.algebra.query import MatchQuery, Unit
from ostinato.expr.nodes import Anchor, Call, Expr, Field, Nav
from ostinato.expr.types import Kind
from ostinato.plan.tree.branches import Way

HELD_ALIKE = (Kind.INT, Kind.STRING, Kind.TIMESTAMP, Kind.DATE)  # equal as values exactly if they are equal as held


def equal_fields(condition: Expr) -> tuple[tuple[str, Field], tuple[str, Field]] | None:
    """Of a condition that says no more than that two attributes of two events are equal: (variable, attribute) of both."""
    if not isinstance(condition, Call) or condition.name != "eq":
        return None
    left, right = map(_attribute, condition.args)
    if left is None or right is None:
        return None
    (a, one), (b, other) = left, right
    if a == b or one.type is None or other.type is None:
        return None
    alike = one.type.kind is other.type.kind and one.type.kind in HELD_ALIKE
    same_unit = one.type.kind is not Kind.TIMESTAMP or one.type.ticks == other.type.ticks
    return ((a, one), (b, other)) if alike and same_unit else None


def _attribute(expr: Expr) -> tuple[str, Field] | None:
    if not isinstance(expr, Nav) or not isinstance(expr.body, Field) or expr.variable is None:
        return None
    return (expr.variable, expr.body) if expr.anchor is Anchor.LAST and expr.offset == expr.shift == 0 else None


def keyed(query: MatchQuery, ways: Iterable[Way], kleene: frozenset[str]) -> MatchQuery:
    """The same query, divided by the first column that allows it. Not where events are counted: the window counts those of all values."""
    if query.partition or (query.within is not None and query.within.unit is Unit.EVENTS):
        return query
    ways = tuple(ways)
    for column in query.schema.names:
        if all(_divides(column, way, kleene, frozenset()) for way in ways):
            return replace(query, partition=(column,), null_keys=NullKeys.NEVER)
    return query


def _divides(column: str, way: Way, kleene: frozenset[str], around: frozenset[str]) -> bool:
    """Whether all its events equal each other and those around them in the column. The events of a repetition are compared by
    conditions of their own, which are not looked into; an event that is compared with none may be null there."""
    if kleene & {*way.variables} or not (around or len(way.variables) > 1):
        return False
    pairs = list(_equal_in(column, way))
    reached = set(around or way.variables[:1])
    waiting = True
    while waiting:
        waiting = False
        for a, b in pairs:
            if (a in reached) != (b in reached):
                reached |= {a, b}
                waiting = True
    if not {*way.variables} <= reached:
        return False
    inside = around | {*way.variables}
    return all(_divides(column, negated.way, kleene, inside) for negated in way.negations)


def _equal_in(column: str, way: Way) -> Iterator[tuple[str, str]]:
    for condition in way.conditions:
        found = equal_fields(condition)
        if found is not None:
            (a, one), (b, other) = found
            if one.name == other.name == column:
                yield a, b


def drop_equalities(column: str, way: Way) -> None:
    """Events that are evaluated value by value are equal in the column, those without a value take no part."""
    for condition in tuple(way.conditions):
        found = equal_fields(condition)
        if found is not None and found[0][1].name == found[1][1].name == column:
            way.conditions.remove(condition)
    for negated in way.negations:
        drop_equalities(column, negated.way)
