"""Expressions in definitions of situations: those that all languages share."""

from __future__ import annotations

from dataclasses import replace

from ostinato.expr.nodes import Expr
from ostinato.expr.reading.parse import ExpressionParser
from ostinato.expr.unresolved import RawColumn
from ostinato.lang.situations.words import RESERVED


class SituationParser(ExpressionParser):
    reserved = RESERVED

    def reference(self) -> Expr:
        """Quotes make no difference to a name."""
        found = super().reference()
        return replace(found, quoted=()) if isinstance(found, RawColumn) else found
