"""Expressions of CEL back to text. Parsing the text gives the same tree."""

from __future__ import annotations

import math

from ostinato.expr.nodes import Call, Expr, Literal
from ostinato.expr.reading.parse import EXTRACTED
from ostinato.expr.text import ATOM, SIGN, ExpressionWriter, name_text
from ostinato.expr.unresolved import RawCall
from ostinato.lang.cel.syntax import Attribute, DurationWord
from ostinato.lang.cel.words import DURATION_WORD, RESERVED

UNIT_OF = {name: unit for unit, name in reversed(EXTRACTED.items())}


def render_expression(expr: Expr) -> str:
    return _CelWriter(None).written(expr)[0]


def render_name(name: str) -> str:
    """With double quotes where it could be read as something else."""
    reserved = name.upper() in RESERVED or name.upper() == DURATION_WORD
    return '"' + name.replace('"', '""') + '"' if reserved else name_text(name)


class _CelWriter(ExpressionWriter):
    def written(self, expr: Expr) -> tuple[str, int]:
        if isinstance(expr, Attribute):
            owner = f"{expr.owner}." if expr.owner else ""
            return owner + ".".join(render_name(part) for part in expr.name.split(".")), ATOM
        if isinstance(expr, DurationWord):
            return expr.written, ATOM
        return super().written(expr)

    def call(self, call: Call) -> tuple[str, int]:
        if call.name in UNIT_OF:
            return f"EXTRACT({UNIT_OF[call.name]} FROM {self.written(call.args[0])[0]})", ATOM
        return super().call(call)

    def raw_call(self, call: RawCall) -> tuple[str, int]:
        text, power = super().raw_call(call)
        return render_name(call.name) + text.removeprefix(call.name), power

    def literal(self, literal: Literal) -> tuple[str, int]:
        """What is too large for a double is read as infinite."""
        if isinstance(literal.value, float) and math.isinf(literal.value):
            return ("1e999", ATOM) if literal.value > 0 else ("-1e999", SIGN)
        return super().literal(literal)
