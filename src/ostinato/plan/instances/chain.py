"""An expression over streams, as the chain of events that it combines: filters and projections are put into what stands behind them.

Event 0 begins, event s is that which state s waits for. A value of event s is `Nav("@s", ...)` over the columns of the input; an attribute
that the steps of a repetition change is `Nav("$@s", ...)`, as the step before has left it, and behind a step as that has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ostinato.algebra.event_streams import (
    DURATION,
    FIRST_EVENT,
    INSTANCE,
    SECOND_EVENT,
    EventExpression,
    EventStream,
    Filter,
    Fold,
    Next,
    Project,
)
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Anchor, Call, Cast, Expr, Field, Literal, Nav, type_of
from ostinato.expr.shape import LARGEST, size_of
from ostinato.expr.types import Kind
from ostinato.plan.classify import conjuncts
from ostinato.plan.instances.durations import longest, no_time
from ostinato.plan.instances.merged_input import MergedInput

Attributes = Mapping[str, Expr]


def event(number: int) -> str:
    return f"@{number}"


def running(number: int) -> str:
    return f"$@{number}"


@dataclass
class Repetition:
    """What the steps of a state change: the values of attributes before the first, and what each step makes of them."""

    initial: dict[str, Expr]
    changed: dict[str, Expr]
    step: list[Expr]


@dataclass
class Link:
    """An event of the chain: of which stream, what must hold of it alone, and the attributes of what the chain is with it. State s waits
    for `relevant` ones. `conditions` are those of the filters behind it, over what it completes; `within`: how long that may last."""

    stream: str
    alone: list[Expr] = field(default_factory=list)
    relevant: list[Expr] = field(default_factory=list)
    repetition: Repetition | None = None
    conditions: list[Expr] = field(default_factory=list)
    within: int = -1


class Chain:
    """`links` in their order; `attributes` are those of the results."""

    def __init__(self, expression: EventExpression, merged: MergedInput) -> None:
        self._merged = merged
        self._operations = 0  # of expressions that others were put into
        self.links: list[Link] = []
        self.attributes = self._composed(expression)

    def _composed(self, expression: EventExpression) -> Attributes:
        match expression:
            case EventStream():
                return self._begun(expression)
            case Filter(item, condition):
                attributes = self._composed(item)
                self._filter(condition, attributes)
                return attributes
            case Project(item, measures):
                attributes = self._composed(item)
                return {measure.name: self._over(measure.expr, attributes) for measure in measures}
            case Next():
                return self._next(expression)
            case Fold():
                return self._fold(expression)

    def _begun(self, stream: EventStream) -> Attributes:
        """A stream begins the chain, or is the second operand of what is behind it."""
        self.links.append(Link(stream.name))
        here = len(self.links) - 1
        return {name: self._at(here, self._merged.attribute(stream.name, name, type_)) for name, type_ in stream.schema.columns}

    def _at(self, number: int, body: Expr) -> Expr:
        return Nav(event(number), Anchor.LAST, 0, 0, body, type=body.type, span=body.span)

    def _filter(self, condition: Expr, attributes: Attributes) -> None:
        link = self.links[-1]
        for part in conjuncts(condition):
            most = longest(part, self._merged.time_type)
            if most is not None and len(self.links) > 1:
                link.within = most if link.within < 0 else min(link.within, most)
            link.conditions.append(self._over(part, attributes))

    def _over(self, expr: Expr, attributes: Attributes) -> Expr:
        """An expression over one stream: its attributes, and how long its events last."""

        def leaf(node: Expr) -> Expr | None:
            if not isinstance(node, Field):
                return None
            if node.name == DURATION:
                return self._duration(node)
            return self._attribute(node, attributes)

        return self._bounded(replaced(expr, leaf), expr)

    def _combined(self, expr: Expr, sides: Mapping[str, Attributes]) -> Expr:
        """An expression over two events: each side's attributes in its place."""

        def leaf(node: Expr) -> Expr | None:
            if not isinstance(node, Nav) or node.variable is None:
                return None
            assert isinstance(node.body, Field)
            return self._attribute(node.body, sides[node.variable])

        return self._bounded(replaced(expr, leaf), expr)

    def _bounded(self, expr: Expr, written: Expr) -> Expr:
        """What is said twice at every level is a tree of exponential size: later passes walk all of it, so they never see it."""
        self._operations += size_of(expr) - 1
        if self._operations > LARGEST:
            hint = f"At most {LARGEST:,} operations: PUBLISH what is computed on the way, and select from that"
            raise UnsupportedError("The query is too large when what it is computed from is put into it", hint=hint, span=written.span)
        return expr

    def _attribute(self, node: Field, attributes: Attributes) -> Expr:
        """One of them; or a field of one that is a struct, which is that of a column."""
        if node.name in attributes:
            return attributes[node.name]
        root = max((name for name in attributes if node.name.startswith(f"{name}.")), key=len)
        return self._field(attributes[root], node.name[len(root) :], node)

    def _field(self, struct: Expr, path: str, node: Field) -> Expr:
        """What lies inside of a struct: of one that came with an event, a column; of one that steps change, what they change with it."""
        if isinstance(struct, Literal | Cast):  # null: nothing else can be written, or becomes one
            return Literal(None, type=node.type, span=node.span)
        if not (isinstance(struct, Nav) and struct.variable is not None and isinstance(struct.body, Field)):
            raise UnsupportedError(f"`{node.name}` is part of what is computed", hint="Select the field before", span=node.span)
        name = struct.body.name + path
        if struct.variable.startswith("@"):
            return replace(struct, body=self._merged.field(struct.body.name, path, type_of(node)), type=node.type)
        repetition = self.links[int(struct.variable.removeprefix("$@"))].repetition
        assert repetition is not None
        if name not in repetition.initial:
            repetition.initial[name] = self._field(repetition.initial[struct.body.name], path, node)
            repetition.changed[name] = self._field(repetition.changed[struct.body.name], path, node)
        return replace(struct, body=Field(name, type=node.type), type=node.type)

    def _duration(self, node: Field) -> Expr:
        last = len(self.links) - 1
        if last == 0 and not self._merged.lasts:
            return no_time(type_of(node))
        ends, starts = self._at(last, self._merged.time_of), self._at(0, self._merged.start_of)
        return Call("sub", (ends, starts), type=node.type, span=node.span)

    def _second(self, expression: EventExpression) -> tuple[Link, Attributes]:
        """The second operand: a stream, filtered and projected or not. Its conditions are about one event."""
        before, self.links = self.links, []
        attributes = self._composed(expression)
        (link,) = self.links
        self.links = [*before, link]
        here = len(before)
        link.alone, link.conditions, link.within = [_moved(part, here) for part in link.conditions], [], -1
        return link, {name: _moved(expr, here) for name, expr in attributes.items()}

    def _next(self, expression: Next) -> Attributes:
        first = self._composed(expression.first)
        link, second = self._second(expression.second)
        sides = {FIRST_EVENT: first, SECOND_EVENT: second}
        link.relevant = [self._combined(part, sides) for part in conjuncts(expression.condition)]
        return {measure.name: self._combined(measure.expr, sides) for measure in expression.attributes}

    def _fold(self, expression: Fold) -> Attributes:
        first = self._composed(expression.first)
        link, second = self._second(expression.second)
        own = running(len(self.links) - 1)
        changed = [*second, *(measure.name for measure in expression.changes)]
        held = {name: Nav(own, Anchor.LAST, 0, 0, Field(name, type=first[name].type), type=first[name].type) for name in changed}
        sides = {FIRST_EVENT: first, SECOND_EVENT: second, INSTANCE: {**first, **held}}
        link.repetition = Repetition({name: first[name] for name in changed}, dict(second), [])
        opaque = [measure for measure in expression.changes if not type_of(measure.expr).is_computable]  # others may look into them
        for measure in (*opaque, *(measure for measure in expression.changes if measure not in opaque)):
            link.repetition.changed[measure.name] = self._combined(measure.expr, sides)
        link.relevant = [self._combined(part, sides) for part in conjuncts(expression.relevant)]
        link.repetition.step = [self._combined(part, sides) for part in conjuncts(expression.step)]
        behind = {**sides, INSTANCE: {**first, **held, **second}}  # the latest step has left the event's own values
        return {measure.name: self._combined(measure.expr, behind) for measure in expression.attributes}


def replaced(expr: Expr, leaf: Callable[[Expr], Expr | None]) -> Expr:
    """With other expressions in the place of those nodes for which there are some."""
    found = leaf(expr)
    return found if found is not None else expr.map_children(lambda child: replaced(child, leaf))


def _moved(expr: Expr, here: int) -> Expr:
    """What was said of the first event of a chain, of the event with this number."""

    def leaf(node: Expr) -> Expr | None:
        return Nav(event(here), Anchor.LAST, 0, 0, node.body, type=node.type, span=node.span) if isinstance(node, Nav) else None

    return replaced(expr, leaf)


def is_true(expr: Expr) -> bool:
    return isinstance(expr, Literal) and expr.value is True and type_of(expr).kind is Kind.BOOL
