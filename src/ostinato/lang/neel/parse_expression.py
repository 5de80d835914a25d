"""What NEEL adds to the expressions of event patterns: chains of comparisons, and "x" as a string."""

from __future__ import annotations

from ostinato.expr.nodes import Expr, Literal
from ostinato.expr.reading.parse import COMPARISON, COMPARISONS
from ostinato.expr.shape import balanced
from ostinato.lang.events.parse_expression import EventExpressionParser


class NeelExpressionParser(EventExpressionParser):
    def special(self) -> Expr | None:
        """A name in double quotes that nothing is asked of can only be meant as a string."""
        token = self.peek()
        if token.kind == "quoted" and token.text.startswith('"') and not self.peek(1).is_op(".", "[", "("):
            self.next()
            return Literal(token.value, span=token.span)
        return None

    def _comparison(self, left: Expr) -> Expr:
        """`a.x = b.x = c.x` is a.x = b.x and b.x = c.x."""
        pairs: list[Expr] = []
        while self.peek().kind == "op" and self.peek().text in COMPARISONS:
            name = COMPARISONS[self.next().text]
            right = self.expression(COMPARISON)
            pairs.append(self._call(name, left, right))
            left = right
        return balanced("and", pairs) if len(pairs) > 1 else pairs[0]
