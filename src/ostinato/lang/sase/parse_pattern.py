"""`SEQ(Stock+ a[ ], ~(Halt h), Stock b)`: the components of a pattern."""

from __future__ import annotations

from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.expr.cursor import TokenCursor
from ostinato.expr.tokens import Token
from ostinato.lang.sase.syntax import Component, Item, Negation, Quantifier, all_components

RESERVED = frozenset(("PATTERN", "WHERE", "WITHIN", "RETURN", "OUTPUT", "SEQ", "AND", "OR", "NOT", "AS"))


def parse_pattern(cursor: TokenCursor) -> tuple[Item, ...]:
    """What follows PATTERN: SEQ(...) or a single component."""
    start = cursor.peek().span
    items = _sequence(cursor) if cursor.at_word("SEQ") and cursor.peek(1).is_op("(") else (_item(cursor),)
    _refuse_alternation(cursor)
    if not any(isinstance(item, Component) for item in items):
        raise QuerySyntaxError(
            "A pattern needs at least one component that is not negated",
            hint="PATTERN SEQ(A a, ~(B b), C c)",
            span=cursor.span_from(start),
        )
    _refuse_repeated_names(items)
    return items


def _sequence(cursor: TokenCursor) -> tuple[Item, ...]:
    cursor.next()
    cursor.expect_op("(")
    items = [_item(cursor)]
    while cursor.accept_op(","):
        items.append(_item(cursor))
    cursor.expect_op(")", hint="Separate components with commas: SEQ(A a, B+ b[ ], C c)")
    return tuple(items)


def _item(cursor: TokenCursor) -> Item:
    if cursor.at_op("~", "!") or cursor.at_word("NOT"):
        return _negation(cursor)
    _refuse_nested(cursor)
    component = _component(cursor)
    _refuse_alternation(cursor)
    return component


def _negation(cursor: TokenCursor) -> Negation:
    start = cursor.next().span
    cursor.expect_op("(", hint="A negated component stands in parentheses: ~(B b)")
    if cursor.at_word("SEQ") and cursor.peek(1).is_op("("):
        items = _sequence(cursor)
    else:
        items = (_item(cursor),)
    cursor.expect_op(")")
    components = tuple(item for item in items if isinstance(item, Component))
    span = cursor.span_from(start)
    if len(components) < len(items):
        raise UnsupportedError("A negation inside a negation is not offered", span=span)
    for component in components:
        if component.quantifier is not Quantifier.ONE:
            raise UnsupportedError(
                f"`{component.variable}` is negated and cannot repeat or be optional",
                hint=f"One {component.event_type} is enough to forbid: ~({component.event_type} {component.variable})",
                span=component.span,
            )
    return Negation(components, span)


def _component(cursor: TokenCursor) -> Component:
    event_type = _name(cursor, "an event type")
    mark = cursor.accept_op("+", "*", "?")
    quantifier = Quantifier(mark.text) if mark else Quantifier.ONE
    name = _name(cursor, "a variable for the event")
    bracket = cursor.accept_op("[")
    if bracket:
        cursor.expect_op("]", hint="A list of events is declared with empty brackets: a[ ]")
    span = cursor.span_from(event_type.span)
    if bracket and not quantifier.is_kleene:
        raise QuerySyntaxError(
            f"`{name.value}[ ]` is a list, but one {event_type.value} is selected",
            hint=f"Write {event_type.value}+ {name.value}[ ] or {event_type.value} {name.value}",
            span=span,
        )
    if quantifier.is_kleene and not bracket:
        raise QuerySyntaxError(
            f"`{event_type.value}{quantifier.value}` selects a list of events",
            hint=f"Declare it with brackets: {event_type.value}{quantifier.value} {name.value}[ ]",
            span=span,
        )
    return Component(event_type.value, quantifier, name.value, span)


def _name(cursor: TokenCursor, what: str) -> Token:
    return cursor.expect_name(what, RESERVED)


def _refuse_nested(cursor: TokenCursor) -> None:
    token = cursor.peek()
    if token.is_op("(") or (token.is_word("SEQ", "AND", "OR", "ANY") and cursor.peek(1).is_op("(")):
        raise UnsupportedError(
            "A pattern inside a pattern is not offered yet",
            hint="List the components in one SEQ(...)",
            span=token.span,
        )


def _refuse_alternation(cursor: TokenCursor) -> None:
    token = cursor.peek()
    if token.is_op("|", "||") or token.is_word("OR"):
        raise UnsupportedError(
            "Alternatives in a pattern are not offered yet", hint="Write one query for each alternative", span=token.span
        )


def _refuse_repeated_names(items: tuple[Item, ...]) -> None:
    seen: set[str] = set()
    for component in all_components(items):
        if component.variable.lower() in seen:
            raise QuerySyntaxError(f"The variable `{component.variable}` is declared twice", span=component.span)
        seen.add(component.variable.lower())
