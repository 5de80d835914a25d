"""Expressions of a parsed clause back to text. Parsing the text gives the same tree."""

from __future__ import annotations

import math
import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Call, Case, Cast, Expr, Literal
from ostinato.expr.reading.literal_syntax import SIMPLE_TYPES
from ostinato.expr.reading.parse import AND, ARITHMETIC, COMPARISON, COMPARISONS, EXTRACTED, NOT, OR, RESERVED, SIGN
from ostinato.expr.shape import balanced
from ostinato.expr.times.nanoseconds import Duration, Moment
from ostinato.expr.times.temporal_text import interval_text, timestamp_text
from ostinato.expr.types import Kind, Type
from ostinato.expr.unresolved import RawCall, RawColumn
from ostinato.lang.sql.syntax import RunningOrFinal

PRIMARY = 1000
PLAIN_NAME = re.compile(r"[^\W\d]\w*")
COMPARISON_SIGNS = {name: sign for sign, name in reversed(COMPARISONS.items())}
ARITHMETIC_SIGNS = {name: (sign, power) for sign, (name, power) in ARITHMETIC.items()}
AFTER_OPERAND = {"is_null": "IS NULL", "is_not_null": "IS NOT NULL", "is_true": "IS TRUE", "is_false": "IS FALSE"}
UNITS = {name: unit for unit, name in reversed(EXTRACTED.items())}
CHAINS = {"and": ("AND", AND), "or": ("OR", OR)}


def render_expression(expr: Expr) -> str:
    return _render(expr)[0]


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def plain_or_quoted(name: str) -> str:
    return name if PLAIN_NAME.fullmatch(name) and name.upper() not in RESERVED else quote(name)


def folded_variable(name: str) -> str:
    """A variable after folding: unquoted only if folding gives the same name again."""
    return plain_or_quoted(name) if name == name.upper() else quote(name)


def _render(expr: Expr) -> tuple[str, int]:
    """The text, and how tightly its outermost operator binds."""
    match expr:
        case Literal(value):
            return _literal(value), PRIMARY
        case RawColumn(parts, quoted):
            flags = quoted or (False,) * len(parts)
            return ".".join(quote(p) if q else p for p, q in zip(parts, flags, strict=True)), PRIMARY
        case RunningOrFinal(final, call):
            return f"{'FINAL' if final else 'RUNNING'} {render_expression(call)}", PRIMARY
        case RawCall():
            return _function(expr), PRIMARY
        case Cast(arg, to):
            return f"CAST({render_expression(arg)} AS {_type(to)})", PRIMARY
        case Case(branches, otherwise):
            return _case(branches, otherwise), PRIMARY
        case Call():
            return _operation(expr)
    raise UnsupportedError(f"{type(expr).__name__} has no SQL text", span=expr.span)


def _operand(expr: Expr, above: int) -> str:
    """With parentheses unless it binds more tightly than `above`."""
    text, own = _render(expr)
    return text if own > above else f"({text})"


def _operation(call: Call) -> tuple[str, int]:
    name, args = call.name, call.args
    if name in CHAINS:
        return _chain(call)
    if name in COMPARISON_SIGNS:
        return f"{_operand(args[0], COMPARISON)} {COMPARISON_SIGNS[name]} {_operand(args[1], COMPARISON)}", COMPARISON
    if name in ARITHMETIC_SIGNS:
        sign, power = ARITHMETIC_SIGNS[name]
        return f"{_operand(args[0], power - 1)} {sign} {_operand(args[1], power)}", power
    if name in AFTER_OPERAND:
        return f"{_operand(args[0], COMPARISON)} {AFTER_OPERAND[name]}", COMPARISON
    if name in UNITS:
        return f"EXTRACT({UNITS[name]} FROM {render_expression(args[0])})", PRIMARY
    return _word_operation(call)


def _word_operation(call: Call) -> tuple[str, int]:
    name, args = call.name, call.args
    if name == "not":
        return f"NOT {_operand(args[0], NOT)}", NOT
    if name == "neg":
        inner = render_expression(args[0])
        return (f"-({inner})" if isinstance(args[0], Literal) or _render(args[0])[1] <= SIGN else f"-{inner}"), SIGN
    left = _operand(args[0], COMPARISON) if args else ""
    if name == "in":
        return f"{left} IN ({', '.join(map(render_expression, args[1:]))})", COMPARISON
    if name == "distinct":
        return f"{left} IS DISTINCT FROM {_operand(args[1], COMPARISON)}", COMPARISON
    if name == "like":
        escape = f" ESCAPE {_operand(args[2], COMPARISON)}" if len(args) > 2 else ""
        return f"{left} LIKE {_operand(args[1], COMPARISON)}{escape}", COMPARISON
    raise UnsupportedError(f"`{name}` has no SQL text", span=call.span)


def _chain(call: Call) -> tuple[str, int]:
    """The parser balances chains, so that a chain is written flat only where balancing it gives the same tree."""
    word, power = CHAINS[call.name]
    terms = _terms(call, call.name)
    if balanced(call.name, terms) != call:
        terms = list(call.args)
    return f" {word} ".join(_operand(term, power) for term in terms), power


def _terms(expr: Expr, name: str) -> list[Expr]:
    if isinstance(expr, Call) and expr.name == name:
        return [term for arg in expr.args for term in _terms(arg, name)]
    return [expr]


def _function(call: RawCall) -> str:
    if call.star:
        inside = "*" if call.star_of is None else f"{folded_variable(call.star_of)}.*"
    else:
        inside = ("DISTINCT " if call.distinct else "") + ", ".join(map(render_expression, call.args))
    return f"{plain_or_quoted(call.name)}({inside})"


def _case(branches: tuple[tuple[Expr, Expr], ...], otherwise: Expr | None) -> str:
    parts = [f"WHEN {render_expression(condition)} THEN {render_expression(value)}" for condition, value in branches]
    if otherwise is not None:
        parts.append(f"ELSE {render_expression(otherwise)}")
    return f"CASE {' '.join(parts)} END"


def _literal(value: Any) -> str:
    match value:
        case None | bool():
            return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
        case int():
            return str(value)
        case float():
            return _float(value)
        case Decimal():
            text = format(value, "f")
            return text if "." in text else f"{text}."
        case str():
            return "'" + value.replace("'", "''") + "'"
        case datetime() | Moment():
            return f"TIMESTAMP '{timestamp_text(value)}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case timedelta() | Duration():
            return f"INTERVAL '{interval_text(value)}'"
    raise UnsupportedError(f"{type(value).__name__} has no SQL text")


def _float(value: float) -> str:
    """With an exponent: without one it would be read as a decimal."""
    if math.isinf(value):
        return "1e999" if value > 0 else "-1e999"
    text = repr(value)
    return text if "e" in text else f"{text}e0"


def _type(to: Type) -> str:
    if to.kind is Kind.DECIMAL:
        return f"DECIMAL({to.precision}, {to.scale})"
    if to.kind is Kind.TIMESTAMP and to.zone is not None:
        return "TIMESTAMPTZ_NS" if to.unit == "ns" else "TIMESTAMPTZ"
    return next(name for name, simple in SIMPLE_TYPES.items() if simple == to)
