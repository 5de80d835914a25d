"""What CEL adds to expressions: `$1.price`, `$.price`, DUR, `10 MINUTES`."""

from __future__ import annotations

from ostinato.base.errors import QuerySyntaxError
from ostinato.expr.nodes import Expr, Literal
from ostinato.expr.reading.literal_syntax import interval_quantity
from ostinato.expr.reading.parse import ExpressionParser
from ostinato.expr.reading.tokens import Token
from ostinato.expr.times.temporal_text import is_calendar_unit, unit_named
from ostinato.lang.cel.syntax import Attribute, DurationWord
from ostinato.lang.cel.words import DURATION_WORD, RESERVED

DECORATORS = ("$1", "$2", "$")


class CelExpressionParser(ExpressionParser):
    reserved = RESERVED

    def special(self) -> Expr | None:
        token = self.peek()
        return self._decorated() if token.kind == "op" and token.text.startswith("$") else None

    def _decorated(self) -> Expr:
        mark = self.next()
        if mark.text not in DECORATORS or not self.at_op(".") or self.peek().span.start != mark.span.end:
            hint = "Decorators are $1, $2 and $, and stand before a dot and an attribute: $1.price"
            raise QuerySyntaxError(f"`{mark.text}` is of no attribute", hint=hint, span=mark.span.to(self.peek().span))
        self.next()
        # any word may be an attribute behind a decorator, keywords too
        name = self.path(self.expect_name("an attribute").value)
        span = self.span_from(mark.span)
        self.refuse_index(span)
        return Attribute(mark.text, name, span=span)

    def path(self, name: str) -> str:
        """The attribute that begins with `name`, or a field of one that is a struct: `dev.id`."""
        while self.accept_op("."):
            name = f"{name}.{self.expect_name('a field').value}"
        return name

    def reference(self) -> Expr:
        word = self.expect_name("an attribute", self.reserved)
        if word.is_word(DURATION_WORD) and not self.at_op("."):
            return DurationWord(word.text, span=word.span)
        name = self.path(word.value)
        span = self.span_from(word.span)
        self.refuse_index(span)
        return Attribute("", name, span=span)

    def expect_name(self, what: str = "a name", reserved: frozenset[str] = frozenset()) -> Token:
        token = self.peek()
        if token.kind == "name" and token.text.upper() in reserved:
            self.fail(what, hint=f'`{token.text}` is a word of the language; a name that is spelled so needs quotes: "{token.text}"')
        return super().expect_name(what, reserved)

    def number(self) -> Literal:
        """`10 MINUTES` is a length of time."""
        number, unit = self.peek(), self.peek(1)
        if unit.kind == "name" and (unit_named(unit.text) or is_calendar_unit(unit.text)):
            return Literal(interval_quantity(self), span=self.span_from(number.span))
        return super().number()
