"""FOLD to the algebra: what an instance has, of which types, and what a step changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ostinato.algebra import event_streams as algebra
from ostinato.algebra.event_streams import FIRST_EVENT, INSTANCE, SECOND_EVENT, EventExpression, attributes_of
from ostinato.algebra.query import Measure
from ostinato.base.errors import QuerySyntaxError, SchemaError, TypeMismatchError, UnknownNameError
from ostinato.expr.nodes import type_of
from ostinato.expr.types import Type
from ostinato.expr.typing.coerce import coerce
from ostinato.expr.typing.schema import Schema
from ostinato.lang.cel.attributes import Columns, check_inclusion, conversions, fold_attributes, folded
from ostinato.lang.cel.scope import Scope
from ostinato.lang.cel.syntax import Fold, Item
from ostinato.lang.streams.merge_streams import common_type

ROUNDS = 24  # decimals become wider with every sum, up to what 64 bits hold


def lower_fold(node: Fold, first: EventExpression, second: EventExpression, times: tuple[str, ...]) -> algebra.Fold:
    check_inclusion(attributes_of(first), attributes_of(second), node.span)
    changed = _changed(node, attributes_of(first), attributes_of(second))
    carried, changes = _Carried(node, changed, attributes_of(second), times).settled(_met(node, first, second))
    first, second = _converted(first, carried), _converted(second, carried)
    scope = _scope(carried, attributes_of(second), changed, times)
    return algebra.Fold(
        first,
        second,
        scope.condition(node.relevant),
        scope.condition(node.step),
        changes,
        fold_attributes(tuple(carried.values()), attributes_of(second), node.span),
        node.span,
    )


def _changed(node: Fold, first: Columns, second: Columns) -> dict[str, tuple[str, Item]]:
    """The attributes that aggregates change, in lower case: their own spelling, and the aggregate."""
    names, found = {name.lower(): name for name, _ in first}, dict[str, tuple[str, Item]]()
    for item in node.aggregates:
        name = item.name or ""
        if name.lower() not in names:
            hint = f"Let the first stream have it, with the value that it begins with: (SELECT *, 0 AS {name} FROM ...) FOLD ..."
            raise UnknownNameError(f"The first stream has no attribute `{name}` for this aggregate", hint=hint, span=item.span)
        if name.lower() in folded(second):
            hint = f"Keep it apart: (SELECT *, {name} AS other FROM ...) FOLD {{..., ..., ... AS other}} ..."
            message = f"Both streams have the attribute `{name}`: every step gives it the value of the event"
            raise QuerySyntaxError(message, hint=hint, span=item.span)
        if name.lower() in found:
            raise QuerySyntaxError(f"Two aggregates change `{name}`", hint="Leave one of them out", span=item.span)
        found[name.lower()] = (names[name.lower()], item)
    return found


def _met(node: Fold, first: EventExpression, second: EventExpression) -> dict[str, tuple[str, Type]]:
    """By name in lower case, the attributes of the first with types that hold the values of the second, too."""
    others = {name.lower(): type_ for name, type_ in attributes_of(second)}
    found: dict[str, tuple[str, Type]] = {}
    for name, own in attributes_of(first):
        shared = common_type(own, others.get(name.lower(), own))
        if shared is None:
            raise SchemaError(
                f"`{name}` is of type {own} in the first stream of FOLD and of type {others[name.lower()]} in the second",
                hint=f"Every step puts one in the place of the other: cast it, SELECT CAST({name} AS ...) AS {name}",
                span=node.span,
            )
        found[name.lower()] = (name, shared)
    return found


@dataclass(frozen=True)
class _Carried:
    """What an instance has: types that hold the values with which it begins, and those that any step leaves."""

    node: Fold
    changed: Mapping[str, tuple[str, Item]]
    second: Columns
    times: tuple[str, ...]

    def settled(self, types: dict[str, tuple[str, Type]]) -> tuple[dict[str, tuple[str, Type]], tuple[Measure, ...]]:
        """`types` are those of the beginning, by name in lower case."""
        for _ in range(ROUNDS):
            changes = self._changes(types)
            wider = types | {measure.name.lower(): self._wider(measure, types) for measure in changes}
            if wider == types:
                return types, tuple(Measure(m.name, coerce(m.expr, types[m.name.lower()][1])) for m in changes)
            types = wider
        raise self._endless(types)

    def _changes(self, types: Mapping[str, tuple[str, Type]]) -> list[Measure]:
        scope = _scope(types, self.second, self.changed, self.times)
        return [Measure(name, scope.typed(item.expr)) for name, item in self.changed.values() if item.expr is not None]

    def _wider(self, change: Measure, types: Mapping[str, tuple[str, Type]]) -> tuple[str, Type]:
        name, own = types[change.name.lower()]
        met = common_type(own, type_of(change.expr))
        if met is None:
            span = self.changed[name.lower()][1].span
            message = f"`{name}` begins as a value of type {own}, and a step makes it one of type {change.expr.type}"
            raise TypeMismatchError(message, hint="Let it begin with a value of the same type, or CAST it", span=span)
        return name, met

    def _endless(self, types: Mapping[str, tuple[str, Type]]) -> TypeMismatchError:
        after = {measure.name.lower(): self._wider(measure, types) for measure in self._changes(types)}
        name, type_ = next(column for key, column in after.items() if column != types[key])
        span = self.changed[name.lower()][1].span
        message = f"The type of `{name}`, {type_} by now, grows with every step"
        return TypeMismatchError(message, hint=f"CAST it: CAST(... AS DOUBLE) AS {name}", span=span)


def _scope(carried: Mapping[str, tuple[str, Type]], second: Columns, changed: Mapping[str, object], times: tuple[str, ...]) -> Scope:
    """An attribute has one type in all events."""
    instance = Schema(tuple(carried.values()))
    incoming = Schema(tuple(carried[name.lower()] for name, _ in second))
    streams = {FIRST_EVENT: instance, SECOND_EVENT: incoming, INSTANCE: instance}
    return Scope("FOLD", streams, frozenset(carried) - folded(second) - frozenset(changed), times=times)


def _converted(item: EventExpression, carried: Mapping[str, tuple[str, Type]]) -> EventExpression:
    measures = conversions(attributes_of(item), carried)
    return item if measures is None else algebra.Project(item, measures)
