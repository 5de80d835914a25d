"""`SEQ(A a, !AND(B b, C c, b.x = c.x), a.x = 1)`: members, and conditions behind them."""

from __future__ import annotations

from dataclasses import replace

from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.base.span import Span
from ostinato.expr.nodes import Expr
from ostinato.lang.events.parse_clauses import conjuncts_of
from ostinato.lang.events.syntax import Quantifier
from ostinato.lang.events.words import CLAUSES, RESERVED, RESERVED_IN_PATTERNS
from ostinato.lang.neel.parse_expression import NeelExpressionParser
from ostinato.lang.neel.syntax import Event, Group, Member, Negated, Node, Operator, all_events, may_be_empty, positive_events

DEEPEST = 40
OPERATORS = tuple(operator.value for operator in Operator)


def parse_pattern(cursor: NeelExpressionParser) -> Node:
    """What follows PATTERN."""
    if cursor.at_op("!"):
        raise _nothing_positive("A pattern", cursor.peek().span)
    return _with_names(_PatternParser(cursor).node())


class _PatternParser:
    def __init__(self, cursor: NeelExpressionParser) -> None:
        self.cursor = cursor
        self.depth = 0

    def node(self) -> Node:
        if not self._at_group():
            return self._event()
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnsupportedError(f"The pattern is nested more than {DEEPEST} deep", span=self.cursor.peek().span)
        found = self._group()
        self.depth -= 1
        return found

    def _at_group(self) -> bool:
        return self.cursor.at_word(*OPERATORS) and self.cursor.peek(1).is_op("(")

    def _group(self) -> Group:
        word = self.cursor.next()
        operator = Operator(word.text.upper())
        self.cursor.expect_op("(")
        members = [self._member(operator)]
        conditions: tuple[Expr, ...] = ()
        while self.cursor.accept_op(","):
            if not self._at_member():
                conditions = self._conditions()
                break
            members.append(self._member(operator))
        self.cursor.expect_op(")", hint="Members, then conditions joined by AND or commas: SEQ(A a, B b, a.x = b.x)")
        found = Group(operator, tuple(members), conditions, self.cursor.span_from(word.span))
        if not positive_events(found):
            raise _nothing_positive(f"{operator.value}(...)", found.span)
        return found

    def _member(self, operator: Operator) -> Member:
        if not self.cursor.at_op("!"):
            node = self.node()
            if operator is Operator.OR and may_be_empty(node):
                raise _may_be_empty(node, "A member of OR", "or leave the OR out: in SEQ(A a, B? b, C? c) neither has to be there")
            return node
        found = self._negated()
        if operator is Operator.OR:
            raise UnsupportedError(
                "A negation cannot stand in OR",
                detail="One member of OR is matched, and what is negated gives it no event.",
                hint="Put it into a SEQ or AND with an event: OR(A a, SEQ(C c, !B b))",
                span=found.span,
            )
        return found

    def _negated(self) -> Negated:
        start = self.cursor.next().span
        conditions: tuple[Expr, ...] = ()
        if self.cursor.at_op("!"):
            raise UnsupportedError("A negation is not negated by itself", hint="Leave both out", span=self.cursor.peek().span)
        if not self.cursor.accept_op("("):
            return Negated(self._forbidden(), (), self.cursor.span_from(start))
        item = self._forbidden()
        if self.cursor.accept_op(","):
            if self._at_member():
                hint = "Say how they belong together: !SEQ(...), !AND(...) or !OR(...)"
                raise QuerySyntaxError("A negation is of one expression", hint=hint, span=self.cursor.peek().span)
            conditions = self._conditions()
        self.cursor.expect_op(")")
        return Negated(item, conditions, self.cursor.span_from(start))

    def _forbidden(self) -> Node:
        node = self.node()
        if may_be_empty(node):
            raise _may_be_empty(node, "What is negated", "which says that there is none")
        return node

    def _at_member(self) -> bool:
        """Conditions speak of attributes, so that a name by itself, or before another one, is an event type."""
        token, after = self.cursor.peek(), self.cursor.peek(1)
        if token.is_op("!") or self._at_group():
            return True
        if token.kind not in ("name", "quoted") or (token.kind == "name" and token.text.upper() in RESERVED):
            return False
        if after.kind == "name":
            return after.text.upper() not in RESERVED or self.cursor.peek(2).is_op(",", ")", "[")
        return after.kind == "quoted" or after.is_op(",", ")", "+", "*", "?")

    def _conditions(self) -> tuple[Expr, ...]:
        found: list[Expr] = []
        while True:
            if self._at_member():
                hint = "The members come first, then the conditions"
                raise QuerySyntaxError("A member stands behind a condition", hint=hint, span=self.cursor.peek().span)
            found += conjuncts_of(self.cursor.expression())
            if not self.cursor.accept_op(","):
                return tuple(found)

    def _event(self) -> Event:
        cursor = self.cursor
        _refuse_word(cursor, "event type", cursor.peek(1).kind in ("name", "quoted"))
        kind = cursor.expect_name("an event type, SEQ, AND or OR", RESERVED_IN_PATTERNS)
        mark = cursor.accept_op("+", "*", "?")
        quantifier = Quantifier(mark.text) if mark else Quantifier.ONE
        name = ""
        after = cursor.peek(1)
        _refuse_word(cursor, "variable", after.is_op(",", ")", "[") or after.kind == "end" or after.is_word(*CLAUSES))
        if cursor.peek().kind == "quoted" or (cursor.peek().kind == "name" and cursor.peek().text.upper() not in RESERVED_IN_PATTERNS):
            name = cursor.next().value
        bracket = cursor.accept_op("[")
        if bracket:
            cursor.expect_op("]", hint="A list of events is declared with empty brackets: a[ ]")
        span = cursor.span_from(kind.span)
        if bool(bracket) != quantifier.is_kleene and (name or bracket):
            shown, sign = name or "a", "*" if quantifier.is_optional else "+"
            hint = f"Write {kind.value}{sign} {shown}[ ] for a list, {kind.value}{'?' if sign == '*' else ''} {shown} for one event"
            raise QuerySyntaxError("A list of events is declared with + or *, and with brackets", hint=hint, span=span)
        return Event(kind.value, quantifier, name, span, named=bool(name))


def _refuse_word(cursor: NeelExpressionParser, what: str, stands_alone: bool) -> None:
    """`stands_alone`: what follows shows that the word was meant as a name."""
    token = cursor.peek()
    if stands_alone and token.kind == "name" and token.text.upper() in RESERVED_IN_PATTERNS:
        message = f"`{token.text}` is a word of the language, and no {what} as it stands"
        raise QuerySyntaxError(message, hint=f'Put it into double quotes, "{token.text}", or choose another name', span=token.span)


def _nothing_positive(what: str, span: Span) -> UnsupportedError:
    return UnsupportedError(
        f"{what} needs at least one member that is not negated",
        detail="What is absent has no events, so nothing says when, and how often, it is absent.",
        hint="SEQ(A a, !B b, C c)",
        span=span,
    )


def _may_be_empty(node: Node, what: str, otherwise: str) -> UnsupportedError:
    event = next(event for event in positive_events(node) if event.quantifier.is_optional)
    mark = "+" if event.quantifier.is_kleene else ""
    return UnsupportedError(
        f"{what} needs an event, and this may have none",
        detail=f"`{event.event_type}{event.quantifier.value}` may select nothing.",
        hint=f"Write {event.event_type}{mark}, {otherwise}",
        span=node.span,
    )


def _with_names(pattern: Node) -> Node:
    """Every variable once; those that the text leaves out are called after their type."""
    taken: set[str] = set()
    for event in all_events(pattern):
        if event.named and event.variable.lower() in taken:
            raise QuerySyntaxError(f"The variable `{event.variable}` is declared twice", span=event.span)
        taken.add(event.variable.lower())
    return _named(pattern, taken)


def _named(node: Node, taken: set[str]) -> Node:
    if isinstance(node, Group):
        return replace(node, members=tuple(_named_member(member, taken) for member in node.members))
    return node if node.named else replace(node, variable=_free(node.event_type, taken))


def _named_member(member: Member, taken: set[str]) -> Member:
    return replace(member, item=_named(member.item, taken)) if isinstance(member, Negated) else _named(member, taken)


def _free(event_type: str, taken: set[str]) -> str:
    number = 1
    while f"{event_type} {number}".lower() in taken:
        number += 1
    taken.add(f"{event_type} {number}".lower())
    return f"{event_type} {number}"
