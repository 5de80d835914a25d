"""Expressions of an event pattern back to text. Parsing the text gives the same tree."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Any

from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Call, Case, Cast, Expr, Literal
from ostinato.expr.reading.literal_syntax import SIMPLE_TYPES
from ostinato.expr.reading.parse import AND, ARITHMETIC, COMPARISON, COMPARISONS, EXTRACTED, NOT, OR, balanced
from ostinato.expr.times.nanoseconds import Duration, Moment
from ostinato.expr.times.temporal_text import interval_text, timestamp_text
from ostinato.expr.types import Kind, Type
from ostinato.expr.unresolved import RawCall
from ostinato.lang.events.syntax import At, Element, Equivalence
from ostinato.lang.events.words import RESERVED, RESERVED_IN_PATTERNS

ATOM = 1000
INFIX = {name: (symbol, power) for symbol, (name, power) in ARITHMETIC.items()}
COMPARED = {"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
POSTFIX = {"is_null": "is null", "is_not_null": "is not null", "is_true": "is true", "is_false": "is false"}
UNIT_OF = {name: unit for unit, name in reversed(EXTRACTED.items())}
SIMPLE_NAME = re.compile(r"[^\W\d]\w*")
QUOTED_WORDS = RESERVED | RESERVED_IN_PATTERNS | {"CAST", "EXTRACT", "EXISTS", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "INTERVAL"}

assert set(COMPARED) == set(COMPARISONS.values())


def render_expression(expr: Expr) -> str:
    return _render(expr)[0]


def render_name(name: str) -> str:
    """With double quotes where it could be read as something else."""
    if SIMPLE_NAME.fullmatch(name) and name.upper() not in QUOTED_WORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def _render(expr: Expr) -> tuple[str, int]:
    """The text, and how tightly its outermost operator binds."""
    match expr:
        case Literal():
            return render_literal(expr.value), ATOM
        case Element():
            return _element(expr), ATOM
        case Equivalence():
            return f"[{', '.join(render_name(name) for name in expr.names)}]", ATOM
        case RawCall():
            return _raw_call(expr), ATOM
        case Cast():
            return f"cast({render_expression(expr.arg)} as {_type(expr.to)})", ATOM
        case Case():
            return _case(expr), ATOM
        case Call():
            return _call(expr)
    raise UnsupportedError(f"{type(expr).__name__} has no text", span=expr.span)


def _call(call: Call) -> tuple[str, int]:
    name, args = call.name, call.args
    if name in INFIX:
        symbol, power = INFIX[name]
        return f"{render_operand(args[0], power - 1)} {symbol} {render_operand(args[1], power)}", power
    if name in COMPARED:
        return f"{render_operand(args[0], COMPARISON)} {COMPARED[name]} {render_operand(args[1], COMPARISON)}", COMPARISON
    if name in ("and", "or"):
        return _chain(call), AND if name == "and" else OR
    if name == "not":
        return f"not {render_operand(args[0], NOT)}", NOT
    if name == "neg":
        return f"-({render_expression(args[0])})", ATOM
    if name in POSTFIX:
        return f"{render_operand(args[0], COMPARISON)} {POSTFIX[name]}", COMPARISON
    if name in UNIT_OF:
        return f"extract({UNIT_OF[name]} from {render_expression(args[0])})", ATOM
    return _predicate(call), COMPARISON


def _predicate(call: Call) -> str:
    left = render_operand(call.args[0], COMPARISON)
    if call.name == "in":
        return f"{left} in ({', '.join(render_expression(arg) for arg in call.args[1:])})"
    others = [render_operand(arg, COMPARISON) for arg in call.args[1:]]
    if call.name == "like":
        return f"{left} like {' escape '.join(others)}"
    if call.name == "distinct":
        return f"{left} is distinct from {others[0]}"
    raise UnsupportedError(f"`{call.name}` has no text", span=call.span)


def render_operand(expr: Expr, power: int) -> str:
    """In parentheses unless it binds more tightly than `power`."""
    text, own = _render(expr)
    return text if own > power else f"({text})"


def _chain(call: Call) -> str:
    """`p or q or r` where the parser would build this very tree from it, else with parentheses."""
    terms = _terms(call, call.name)
    if balanced(call.name, terms) != call:
        terms = list(call.args)
    power = AND if call.name == "and" else OR
    return f" {call.name} ".join(render_operand(term, power) for term in terms)


def _terms(expr: Expr, name: str) -> list[Expr]:
    if isinstance(expr, Call) and expr.name == name:
        return [term for arg in expr.args for term in _terms(arg, name)]
    return [expr]


def _element(element: Element) -> str:
    variable = render_name(element.variable)
    index = f"[{variable}.LEN]" if element.at is At.LAST else element.at.value
    return f"{variable}{index}" + (f".{render_name(element.attribute)}" if element.attribute is not None else "")


def _raw_call(call: RawCall) -> str:
    if call.star:
        return f"{render_name(call.name)}({render_name(call.star_of) + '.' if call.star_of else ''}*)"
    args = ", ".join(render_expression(arg) for arg in call.args)
    return f"{render_name(call.name)}({'distinct ' if call.distinct else ''}{args})"


def _case(case: Case) -> str:
    branches = " ".join(f"when {render_expression(when)} then {render_expression(then)}" for when, then in case.branches)
    otherwise = f" else {render_expression(case.otherwise)}" if case.otherwise is not None else ""
    return f"case {branches}{otherwise} end"


def _type(wanted: Type) -> str:
    if wanted.kind is Kind.DECIMAL:
        return f"decimal({wanted.precision}, {wanted.scale})"
    return next(name for name, found in SIMPLE_TYPES.items() if found == wanted).lower()


def render_literal(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime | Moment):
        return f"timestamp '{timestamp_text(value)}'"
    if isinstance(value, date):
        return f"date '{value.isoformat()}'"
    if isinstance(value, timedelta | Duration):
        return f"interval '{interval_text(value)}'"
    return _number(value)


def _number(value: Any) -> str:
    if isinstance(value, float):
        shown = repr(value).replace("inf", "1e999")
        return shown if "e" in shown else shown + "e0"
    if isinstance(value, int):
        return str(value)
    shown = format(value, "f")
    return shown if "." in shown else shown + ".0"
