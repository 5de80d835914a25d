"""Expressions in definitions of situations back to text. Parsing the text gives the same tree."""

from __future__ import annotations

import math

from ostinato.expr.nodes import Call, Expr, Literal
from ostinato.expr.reading.parse import EXTRACTED
from ostinato.expr.text import ATOM, SIGN, ExpressionWriter, name_text
from ostinato.expr.unresolved import RawCall, RawColumn
from ostinato.lang.situations.words import RESERVED

UNIT_OF = {name: unit for unit, name in reversed(EXTRACTED.items())}


def render_expression(expr: Expr) -> str:
    return _Writer(None).written(expr)[0]


def render_name(name: str) -> str:
    """With double quotes where it could be read as something else."""
    return '"' + name.replace('"', '""') + '"' if name.upper() in RESERVED else name_text(name)


class _Writer(ExpressionWriter):
    def raw_column(self, column: RawColumn) -> tuple[str, int]:
        return ".".join(render_name(part) for part in column.parts), ATOM

    def raw_call(self, call: RawCall) -> tuple[str, int]:
        text, power = super().raw_call(call)
        text = text.removeprefix(call.name)
        return render_name(call.name) + (f"({render_name(call.star_of)}.*)" if call.star_of else text), power

    def call(self, call: Call) -> tuple[str, int]:
        if call.name in UNIT_OF:
            return f"EXTRACT({UNIT_OF[call.name]} FROM {self.written(call.args[0])[0]})", ATOM
        return super().call(call)

    def literal(self, literal: Literal) -> tuple[str, int]:
        """What is too large for a double is read as infinite."""
        if isinstance(literal.value, float) and math.isinf(literal.value):
            return ("1e999", ATOM) if literal.value > 0 else ("-1e999", SIGN)
        return super().literal(literal)
