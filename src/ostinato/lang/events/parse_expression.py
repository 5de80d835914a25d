"""What event patterns add to expressions: `a[i-1].price`, `a.LEN`, `80%*x`."""

from __future__ import annotations

from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.expr.nodes import Expr
from ostinato.expr.reading.parse import ExpressionParser
from ostinato.expr.reading.tokens import Token
from ostinato.lang.events.syntax import At, Element
from ostinato.lang.events.words import RESERVED

INDEXES = "[1], [i], [i-1], [x.LEN], [..i-1] and []"


class EventExpressionParser(ExpressionParser):
    percent = True
    reserved = RESERVED

    def reference(self) -> Expr:
        name = self.expect_name("a variable", self.reserved)
        at = self._index(name) if self.at_op("[") else At.PLAIN
        attribute = None
        if self.accept_op("."):
            # Any word may be an attribute, keywords too: the paper's own example has b[1].from
            attribute = self.path()
            self.refuse_index(name.span)
        return Element(name.value, at, attribute, span=self.span_from(name.span))

    def path(self) -> str:
        """An attribute, or a field of one that is a struct: `dev.id`. Any word, as behind a variable."""
        parts = [self.expect_name("an attribute").value]
        while self.accept_op("."):
            parts.append(self.expect_name("a field").value)
        return ".".join(parts)

    def _index(self, variable: Token) -> At:
        start = self.next().span
        at = self._index_inside(variable)
        if at is None or not self.at_op("]"):
            while not (self.at_end() or self.at_op("]", "}")):
                self.next()
            self.accept_op("]")
            raise UnsupportedError("This index is not offered", hint=f"Indexes are {INDEXES}", span=self.span_from(start))
        self.next()
        return at

    def _index_inside(self, variable: Token) -> At | None:
        if self.at_op("]"):
            return At.ALL
        if self.peek().kind == "number":
            first = self.next().value == 1
            return At.BEFORE if first and self._up_to_previous() else (At.FIRST if first else None)
        if self.at_op(".."):
            return At.BEFORE if self._up_to_previous() else None
        if self.peek().kind in ("name", "quoted") and self.peek(1).is_op("."):
            return self._length_of(variable)
        if self.accept_word("I"):
            return At.PREVIOUS if self._minus_one() else At.CURRENT
        return None

    def _up_to_previous(self) -> bool:
        return bool(self.accept_op("..") and self.accept_word("I") and self._minus_one())

    def _minus_one(self) -> bool:
        if self.at_op("-") and self.peek(1).kind == "number" and self.peek(1).value == 1:
            self.position += 2
            return True
        return False

    def _length_of(self, variable: Token) -> At | None:
        name = self.next()
        self.next()
        if not self.accept_word("LEN"):
            return None
        if name.value.lower() != variable.value.lower():
            raise QuerySyntaxError(
                f"`{name.value}.LEN` is no index of `{variable.value}`",
                hint=f"Its last event is {variable.value}[{variable.value}.LEN]",
                span=self.span_from(name.span),
            )
        return At.LAST
