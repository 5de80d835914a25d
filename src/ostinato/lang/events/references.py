"""`a.price`, `a[i-1].price`, `a.LEN`, `avg(a[..i-1].price)` to navigation and aggregates over the match."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches

from ostinato.base.errors import QuerySyntaxError, UnknownNameError, UnsupportedError
from ostinato.base.span import Span
from ostinato.expr.nodes import AGGREGATES, Aggregate, Anchor, Expr, Field, Nav
from ostinato.expr.typing.infer import unknown_column
from ostinato.expr.unresolved import RawCall
from ostinato.lang.events.syntax import At, Component, Element
from ostinato.lang.streams.stream import Stream


@dataclass(frozen=True)
class Mention:
    """A variable in an expression. `at` is ALL for LEN and for aggregates over all of it, PLAIN for a single event."""

    component: Component
    position: int
    at: At
    span: Span | None


NAVIGATION = {
    At.PLAIN: (Anchor.LAST, 0),
    At.CURRENT: (Anchor.LAST, 0),
    At.PREVIOUS: (Anchor.LAST, 1),
    At.LAST: (Anchor.LAST, 0),
    At.FIRST: (Anchor.FIRST, 0),
}


STEPPING = (At.CURRENT, At.PREVIOUS, At.BEFORE)


class References:
    """Resolves the references of one expression, and remembers what it mentions."""

    def __init__(self, components: tuple[Component, ...], stream: Stream, counts_matches: bool = False) -> None:
        """`counts_matches`: the expression is about all matches together, and count(*) is their number."""
        self.components = components
        self.counts_matches = counts_matches
        self.stream = stream
        self.mentions: list[Mention] = []

    def resolve(self, expr: Expr) -> Expr:
        if isinstance(expr, Element):
            return self._element(expr)
        if isinstance(expr, RawCall) and expr.name.lower() in AGGREGATES:
            return self._aggregate(expr)
        return expr.map_children(self.resolve)

    def _find(self, element: Element) -> Component:
        for component in self.components:
            if component.variable.lower() == element.variable.lower():
                return component
        if element.attribute is None and element.at is At.PLAIN and self.stream.schema.find(element.variable):
            raise _without_variable(element, self.components[0])
        names = ", ".join(component.variable for component in self.components)
        raise UnknownNameError(
            f"`{element.variable}` is not a variable of the pattern", hint=f"Its variables are {names}", span=element.span
        )

    def _mention(self, component: Component, at: At, span: Span | None) -> None:
        self.mentions.append(Mention(component, self.components.index(component), at, span))

    def _element(self, element: Element) -> Expr:
        component = self._find(element)
        if self._is_length(element, component):
            self._mention(component, At.ALL if component.quantifier.is_kleene else At.PLAIN, element.span)
            return Aggregate("count", component.variable, None, span=element.span)
        _check_index(element, component)
        if element.attribute is None:
            raise QuerySyntaxError(
                f"`{_shown(element, component)}` is an event; a value of it is meant here",
                hint=f"Name an attribute, e.g. {_shown(element, component)}.{next(iter(self.stream.schema_of(component).names), 'x')}",
                span=element.span,
            )
        self._mention(component, element.at, element.span)
        anchor, offset = NAVIGATION[element.at]
        body = Field(find_column(self.stream, component, element.attribute, element.span), span=element.span)
        return Nav(component.variable, anchor, offset, 0, body, span=element.span)

    def _is_length(self, element: Element, component: Component) -> bool:
        if element.at is not At.PLAIN or (element.attribute or "").upper() != "LEN":
            return False
        # A single event may have an attribute of this name; for a list LEN is always its length.
        return component.quantifier.is_kleene or self.stream.schema_of(component).find("LEN") is None

    def _aggregate(self, call: RawCall) -> Expr:
        function = call.name.lower()
        if call.distinct:
            raise UnsupportedError(f"{function}(DISTINCT ...) is not offered here", span=call.span)
        if self.counts_matches and call.star and call.star_of is None and function == "count":
            return Aggregate("count", None, None, span=call.span)
        if call.star or len(call.args) != 1:
            raise QuerySyntaxError(
                f"{function} takes one argument, the events of a variable", hint=f"e.g. {function}(a[].x)", span=call.span
            )
        elements = [node for node in call.args[0].walk() if isinstance(node, Element)]
        if not elements:
            raise QuerySyntaxError(f"{function} needs the events of a variable", hint=f"e.g. {function}(a[].x)", span=call.span)
        component, before = self._aggregated(function, elements)
        at = At.BEFORE if before else (At.ALL if component.quantifier.is_kleene else At.PLAIN)
        self._mention(component, at, call.span)
        if call.args[0] == replace(elements[0], attribute=None):
            if function != "count":
                raise QuerySyntaxError(f"{function} needs an attribute of the events", span=call.args[0].span)
            return Aggregate("count", component.variable, None, before, span=call.span)
        return Aggregate(function, component.variable, self._row(call.args[0]), before, span=call.span)

    def _aggregated(self, function: str, elements: list[Element]) -> tuple[Component, bool]:
        """The one variable that an aggregate is over, and whether it leaves the current event out."""
        component = self._find(elements[0])
        for element in elements:
            other = self._find(element)
            if other is not component or (element.at is At.BEFORE) != (elements[0].at is At.BEFORE):
                raise UnsupportedError(f"{function} is over the events of one variable; here it mixes two", span=element.span)
            if element.at not in (At.PLAIN, At.ALL, At.BEFORE):
                name = other.variable
                raise QuerySyntaxError(
                    f"{function} is over many events, {_shown(element, other)} is one",
                    hint=f"Write {function}({name}[].x), or {function}({name}[..i-1].x) for those before the current one",
                    span=element.span,
                )
            if element.at is not At.PLAIN and not other.quantifier.is_kleene:
                _check_index(element, other)
        return component, elements[0].at is At.BEFORE

    def _row(self, expr: Expr) -> Expr:
        """The argument of an aggregate as an expression over one row."""
        if isinstance(expr, Element):
            if expr.attribute is None:
                raise QuerySyntaxError("An attribute of the events is meant here", span=expr.span)
            return Field(find_column(self.stream, self._find(expr), expr.attribute, expr.span), span=expr.span)
        if isinstance(expr, RawCall) and expr.name.lower() in AGGREGATES:
            raise QuerySyntaxError("An aggregate cannot be inside another", span=expr.span)
        return expr.map_children(self._row)


def find_column(stream: Stream, component: Component, name: str, span: Span | None) -> str:
    """The column of the stream, which the events of this component must have."""
    schema = stream.schema_of(component)
    found = schema.find(name)
    if found is None and schema.beneath(name) is not None:
        raise unknown_column(name, schema, Field(name, span=span))
    if found is None:
        close = get_close_matches(name, schema.names, n=1)
        hint = f"Did you mean `{close[0]}`?" if close else f"Attributes: {', '.join(schema.names)}"
        whose = f"{component.event_type} events" if stream.parts else "The events"
        raise UnknownNameError(f"{whose} have no attribute `{name}`", hint=hint, span=span)
    return found


def _check_index(element: Element, component: Component) -> None:
    name, attribute = component.variable, f".{element.attribute}" if element.attribute else ""
    if not component.quantifier.is_kleene:
        if element.at is not At.PLAIN:
            raise QuerySyntaxError(f"`{name}` is a single event and has no index", hint=f"Write {name}{attribute}", span=element.span)
        return
    if element.at is At.PLAIN:
        raise UnsupportedError(
            f"`{name}` is a list of events: which one is meant?",
            hint=f"Write {name}[1], {name}[i], {name}[{name}.LEN] or an aggregate such as avg({name}[]{attribute or '.x'})",
            span=element.span,
        )
    if element.at in (At.ALL, At.BEFORE):
        shown = _shown(element, component) + attribute
        hint = f"Put it into an aggregate: avg({shown})"
        raise QuerySyntaxError(f"`{shown}` is many values; one is meant here", hint=hint, span=element.span)


def _shown(element: Element, component: Component) -> str:
    index = f"[{component.variable}.LEN]" if element.at is At.LAST else element.at.value
    return component.variable + index


def _without_variable(element: Element, first: Component) -> UnknownNameError:
    name = element.variable
    prefix = f"{first.variable}[i]" if first.quantifier.is_kleene else first.variable
    return UnknownNameError(f"`{name}` belongs to no variable", hint=f"Say of which event, e.g. {prefix}.{name}", span=element.span)
