"""`SEQ(Stock+ a[ ], ~(Halt h), (Stock b | Trade t))`: the components of a pattern."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.base.span import Span
from ostinato.expr.reading.cursor import TokenCursor
from ostinato.expr.reading.tokens import Token
from ostinato.lang.events.syntax import Component, Quantifier
from ostinato.lang.events.words import RESERVED_IN_PATTERNS
from ostinato.lang.sase.syntax import Alternatives, Item, Negation, all_components, may_be_empty

DEEPEST = 40


def parse_pattern(cursor: TokenCursor) -> tuple[Item, ...]:
    """What follows PATTERN: SEQ(...), a single component, or alternatives of such."""
    start = cursor.peek().span
    items = _PatternParser(cursor).choice()
    if not any(not isinstance(item, Negation) for item in items):
        raise QuerySyntaxError(
            "A pattern needs at least one component that is not negated",
            hint="PATTERN SEQ(A a, ~(B b), C c)",
            span=cursor.span_from(start),
        )
    _refuse_repeated_names(items)
    return items


class _PatternParser:
    """Every part is a tuple of items in sequence, so that a SEQ inside a SEQ, or a part in parentheses, is just more of them."""

    def __init__(self, cursor: TokenCursor) -> None:
        self.cursor = cursor
        self.depth = 0

    def choice(self) -> tuple[Item, ...]:
        """`B b | SEQ(C c, D d)`, also with OR."""
        start = self.cursor.peek().span
        branches = [self._part()]
        while self.cursor.accept_op("|", "||") or self.cursor.accept_word("OR"):
            branches.append(self._part())
        return _chosen(branches, self.cursor.span_from(start))

    def _part(self) -> tuple[Item, ...]:
        cursor = self.cursor
        start = cursor.peek()
        if cursor.at_op("~", "!") or cursor.at_word("NOT"):
            return (self._negation(),)
        if not self._at_group():
            return (_component(cursor),)
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnsupportedError(f"The pattern is nested more than {DEEPEST} deep", span=start.span)
        items = self._group()
        self.depth -= 1
        if cursor.at_op("+", "*", "?"):
            raise UnsupportedError(
                "A part of a pattern in parentheses cannot repeat or be optional",
                hint="Repeat single events, A+ a[ ]; groups that repeat are offered in MATCH_RECOGNIZE",
                span=cursor.next().span,
            )
        return items

    def _at_group(self) -> bool:
        token, after = self.cursor.peek(), self.cursor.peek(1)
        if token.is_word("AND") and after.is_op("("):
            raise UnsupportedError(
                "Events in any order are not offered in SASE+", hint="Write the orders as alternatives: SEQ(..) | SEQ(..)", span=token.span
            )
        return token.is_op("(") or (token.is_word("SEQ", "ANY", "OR") and after.is_op("("))

    def _group(self) -> tuple[Item, ...]:
        """In parentheses, after SEQ, ANY, OR or nothing."""
        word = self.cursor.next()
        if not word.is_op("("):
            self.cursor.expect_op("(")
        parts = [self.choice()]
        while not word.is_op("(") and self.cursor.accept_op(","):
            parts.append(self.choice())
        hint = "Separate components with commas: SEQ(A a, B+ b[ ], C c)" if word.is_word("SEQ") else None
        self.cursor.expect_op(")", hint=hint)
        if word.is_word("SEQ"):
            return tuple(item for part in parts for item in part)
        return _chosen(parts, self.cursor.span_from(word.span))

    def _negation(self) -> Negation:
        cursor = self.cursor
        start = cursor.next().span
        cursor.expect_op("(", hint="A negated component stands in parentheses: ~(B b)")
        items = self.choice()
        cursor.expect_op(")")
        span = cursor.span_from(start)
        return Negation(tuple(_negated(items, span)), span)


def _chosen(branches: list[tuple[Item, ...]], span: Span) -> tuple[Item, ...]:
    if len(branches) == 1:
        return branches[0]
    for branch in branches:
        negation = next((item for item in branch if isinstance(item, Negation)), None)
        if negation is not None:
            raise UnsupportedError(
                "A negation cannot stand in an alternative",
                detail="Negations look at a finished match, whichever alternative it took.",
                hint="Put it before or behind the alternatives, or write a query for each alternative",
                span=negation.span,
            )
        if may_be_empty(branch):
            raise UnsupportedError(
                "An alternative must select at least one event",
                hint="Make one of its components mandatory",
                span=all_components(branch)[0].span,
            )
    return (Alternatives(tuple(_spliced(branches)), span),)


def _spliced(branches: list[tuple[Item, ...]]) -> Iterator[tuple[Item, ...]]:
    """Alternatives that are one alternative of others are some more of them."""
    for branch in branches:
        if len(branch) == 1 and isinstance(branch[0], Alternatives):
            yield from branch[0].branches
        else:
            yield branch


def _negated(items: tuple[Item, ...], span: Span) -> Iterator[Component]:
    for item in items:
        if isinstance(item, Negation):
            raise UnsupportedError("A negation inside a negation is not offered", span=span)
        if isinstance(item, Alternatives):
            raise UnsupportedError(
                "Alternatives inside a negation are not offered",
                hint="Events of both kinds are forbidden by two negations side by side: ~(B b), ~(C c)",
                span=item.span,
            )
        if item.quantifier is not Quantifier.ONE:
            raise UnsupportedError(
                f"`{item.variable}` is negated and cannot repeat or be optional",
                hint=f"One {item.event_type} is enough to forbid: ~({item.event_type} {item.variable})",
                span=item.span,
            )
        yield item


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
    return cursor.expect_name(what, RESERVED_IN_PATTERNS)


def _refuse_repeated_names(items: tuple[Item, ...]) -> None:
    seen: set[str] = set()
    for component in all_components(items):
        if component.variable.lower() in seen:
            raise QuerySyntaxError(f"The variable `{component.variable}` is declared twice", span=component.span)
        seen.add(component.variable.lower())
