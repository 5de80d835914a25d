"""A CEL tree to the algebra of event streams. What the language leaves open is settled in docs/languages/cel.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ostinato.algebra import event_streams as algebra
from ostinato.algebra.event_streams import FIRST_EVENT, SECOND_EVENT, EventExpression, EventQuery, EventStream, attributes_of, time_type_of
from ostinato.algebra.query import Measure
from ostinato.base.errors import OstinatoError, QuerySyntaxError, SchemaError
from ostinato.base.span import Span
from ostinato.expr.nodes import Expr, Field, Literal
from ostinato.expr.types import BOOL, INT, INTERVAL, INTERVAL_NS, Kind, Type
from ostinato.expr.typing.schema import Schema
from ostinato.lang.cel.attributes import check_result, next_attributes
from ostinato.lang.cel.lower_fold import lower_fold
from ostinato.lang.cel.scope import Scope
from ostinato.lang.cel.streams import check_times, event_stream
from ostinato.lang.cel.syntax import Attribute, CelQuery, Filter, Fold, Item, Next, Node, Select, StreamName, stream_names
from ostinato.lang.streams.given_streams import Times


def lower(
    tree: CelQuery, schemas: Mapping[str, Schema], time: Times | None = None, composites: Mapping[str, str] | None = None
) -> EventQuery:
    """The query that a separated `tree` means over these streams. `composites` are those of them that other queries of the text publish,
    each with its time column."""
    try:
        if tree.published is not None and tree.published.name.lower() in (name.lower() for name in schemas):
            hint = "Publish it under another name"
            raise QuerySyntaxError(f"There is already a stream `{tree.published.name}`", hint=hint, span=tree.published.span)
        read = {name: event_stream(name, schemas, time, composites or {}) for name in stream_names(tree.body)}
        check_times(read)
        expression = _Lowering(read).node(tree.body)
        check_shown(expression, tree.span)
        check_result(attributes_of(expression), tree.span)
        return EventQuery(expression, None if tree.published is None else tree.published.name)
    except OstinatoError as error:
        error.within(tree.text)
        raise


@dataclass(frozen=True)
class _Lowering:
    """`read` are the streams by the places in the tree where they are named."""

    read: Mapping[StreamName, EventStream]
    times: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        columns = [column for stream in self.read.values() for column in (stream.time, stream.start) if column is not None]
        object.__setattr__(self, "times", tuple(columns))

    def node(self, node: Node) -> EventExpression:
        match node:
            case StreamName():
                return self.read[node]
            case Filter(condition, item):
                return self._filter(condition, self.node(item))
            case Select(items, item):
                return self._select(items, self.node(item))
            case Next():
                return self._next(node)
        return self._fold(node)

    def _filter(self, condition: Expr, item: EventExpression) -> algebra.Filter:
        scope = Scope("FILTER", {FIRST_EVENT: schema_of(item)}, duration=_duration(time_type_of(item)), times=self.times)
        return algebra.Filter(item, scope.condition(condition))

    def _select(self, items: tuple[Item, ...] | None, item: EventExpression) -> EventExpression:
        if items is None:
            return item
        scope = Scope("SELECT", {FIRST_EVENT: schema_of(item)}, times=self.times, decorated=False)
        found: dict[str, Measure] = {}
        for selected in items:
            for measure in _selected(selected, item, scope):
                if measure.name.lower() in found:
                    hint = "Name one of them with AS"
                    raise QuerySyntaxError(f"Two attributes are called `{measure.name}`", hint=hint, span=selected.span)
                found[measure.name.lower()] = measure
        return algebra.Project(item, tuple(found.values()))

    def _next(self, node: Next) -> algebra.Next:
        first, second = self._operands(node)
        scope = Scope("NEXT", {FIRST_EVENT: schema_of(first), SECOND_EVENT: schema_of(second)}, times=self.times)
        condition = Literal(True, type=BOOL) if node.condition is None else scope.condition(node.condition)
        attributes = next_attributes(attributes_of(first), attributes_of(second), node.span)
        return algebra.Next(first, second, condition, attributes, node.span)

    def _fold(self, node: Fold) -> algebra.Fold:
        first, second = self._operands(node)
        return lower_fold(node, first, second, self.times)

    def _operands(self, node: Next | Fold) -> tuple[EventExpression, EventExpression]:
        first, second = self.node(node.first), self.node(node.second)
        for operand in (first, second):
            check_shown(operand, node.span)
        return first, second


def schema_of(item: EventExpression) -> Schema:
    return Schema(attributes_of(item), _hidden(item))


def _hidden(item: EventExpression) -> tuple[tuple[str, str, str | None], ...]:
    """Columns of its events that no query can carry."""
    if isinstance(item, EventStream):
        return item.schema.unusable
    return _hidden(item.item) if isinstance(item, algebra.Filter) else ()


def check_shown(item: EventExpression, span: Span) -> None:
    """All attributes are taken over."""
    for own, type_, hint in _hidden(item):
        raise SchemaError(f"Column {own} has the type {type_}, which no query can carry", hint=hint, span=span)


def _selected(selected: Item, item: EventExpression, scope: Scope) -> list[Measure]:
    if selected.expr is None:
        check_shown(item, selected.span)
        return [Measure(name, Field(name, type=type_)) for name, type_ in attributes_of(item)]
    typed = scope.typed(selected.expr)
    return [Measure(selected.name or _implied_name(selected, typed, scope), typed)]


def _implied_name(selected: Item, typed: Expr, scope: Scope) -> str:
    """A plain attribute keeps its name, the field of a struct its own; anything else must be given one."""
    if isinstance(selected.expr, Attribute) and isinstance(typed, Field):
        root = scope.streams[FIRST_EVENT].root_of(typed.name)
        return typed.name.removeprefix(root).rpartition(".")[2] or typed.name
    if isinstance(typed, Field):
        return typed.name
    raise QuerySyntaxError("This attribute has no name", hint="Name it: ... AS name", span=selected.span)


def _duration(time: Type) -> Type:
    if time.kind is Kind.INT:
        return INT
    return INTERVAL_NS if time.unit == "ns" else INTERVAL
