"""What SASE+ adds to the expressions of event patterns: `[symbol]`."""

from __future__ import annotations

from ostinato.base.span import Span
from ostinato.expr.nodes import Expr
from ostinato.lang.events.parse_expression import EventExpressionParser
from ostinato.lang.events.syntax import Equivalence


class SaseExpressionParser(EventExpressionParser):
    def special(self) -> Expr | None:
        return self._equivalence() if self.at_op("[") else None

    def _equivalence(self) -> Expr:
        start = self.next().span
        attributes: list[tuple[str, Span]] = []
        while True:
            begin = self.peek().span
            attributes.append((self.path(), self.span_from(begin)))
            if not self.accept_op(","):
                break
        self.expect_op("]")
        return Equivalence(tuple(attributes), span=self.span_from(start))
