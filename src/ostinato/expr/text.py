"""Expressions as canonical text. Row expressions read back as they were; what reaches into a match is written as SQL writes it."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Aggregate, Anchor, Call, Case, Cast, Classifier, Expr, Field, Literal, MatchNumber, Nav
from ostinato.expr.reading.parse import AND, COMPARISON, CONCAT, NOT, OR, PRODUCT, SIGN, SUM
from ostinato.expr.reading.parse import RESERVED as WORDS
from ostinato.expr.shape import balanced
from ostinato.expr.times.nanoseconds import Duration, Moment
from ostinato.expr.times.temporal_text import interval_text, timestamp_text
from ostinato.expr.types import Kind, Type
from ostinato.expr.unresolved import RawCall, RawColumn

BINARY = {
    "eq": ("=", COMPARISON), "ne": ("<>", COMPARISON), "lt": ("<", COMPARISON), "le": ("<=", COMPARISON), "gt": (">", COMPARISON),
    "ge": (">=", COMPARISON), "distinct": ("IS DISTINCT FROM", COMPARISON), "add": ("+", SUM), "sub": ("-", SUM),
    "mul": ("*", PRODUCT), "div": ("/", PRODUCT), "mod": ("%", PRODUCT),
}  # fmt: skip
TESTS = {"is_null": "IS NULL", "is_not_null": "IS NOT NULL", "is_true": "IS TRUE", "is_false": "IS FALSE"}
CHAINS = {"and": ("AND", AND), "or": ("OR", OR)}
ATOM = 1000
NOT_NAMES = WORDS | {"DATE", "TIMESTAMP", "TIMESTAMPTZ", "INTERVAL", "CAST", "EXTRACT", "EXISTS", "ISNULL", "NOTNULL", "ILIKE", "SIMILAR"}


def to_text(expr: Expr) -> str:
    return ExpressionWriter(None).written(expr)[0]


class ExpressionWriter:
    """`variable` qualifies the columns inside of a navigation or an aggregate. A notation of its own overrides what it writes otherwise."""

    def __init__(self, variable: str | None) -> None:
        self.variable = variable

    def written(self, expr: Expr) -> tuple[str, int]:
        """The text, and how tightly its outermost operator binds."""
        for kind, write in _WRITERS.items():
            if isinstance(expr, kind):
                return getattr(self, write)(expr)
        raise UnsupportedError(f"{type(expr).__name__} has no text", span=expr.span)

    def at(self, expr: Expr, power: int) -> str:
        """As an operand of an operator: in parentheses unless it binds more tightly."""
        text, own = self.written(expr)
        return text if own > power else f"({text})"

    def list(self, exprs: tuple[Expr, ...]) -> str:
        return ", ".join(self.written(e)[0] for e in exprs)

    def call(self, call: Call) -> tuple[str, int]:
        name, args = call.name, call.args
        if name in CHAINS:
            return self.chain(call)
        if name in BINARY:
            symbol, power = BINARY[name]
            # Comparisons do not chain, so that both sides of one must bind more tightly.
            left = self.at(args[0], power if power == COMPARISON else power - 1)
            return f"{left} {symbol} {self.at(args[1], power)}", power
        if name == "concat" and len(args) == 2:
            return f"{self.at(args[0], CONCAT - 1)} || {self.at(args[1], CONCAT)}", CONCAT
        if name in TESTS:
            return f"{self.at(args[0], COMPARISON)} {TESTS[name]}", COMPARISON
        if name == "not":
            return f"NOT {self.at(args[0], NOT - 1)}", NOT
        if name == "neg":
            # A sign before a number would be read as part of it.
            operand = f"({self.written(args[0])[0]})" if isinstance(args[0], Literal) else self.at(args[0], SIGN)
            return f"-{operand}", SIGN
        if name == "in":
            return f"{self.at(args[0], COMPARISON)} IN ({self.list(args[1:])})", COMPARISON
        if name == "like":
            escape = f" ESCAPE {self.at(args[2], COMPARISON)}" if len(args) == 3 else ""
            return f"{self.at(args[0], COMPARISON)} LIKE {self.at(args[1], COMPARISON)}{escape}", COMPARISON
        return f"{name}({self.list(args)})", ATOM

    def chain(self, call: Call) -> tuple[str, int]:
        """Flat where the parser would build the same tree again, else with parentheses."""
        word, power = CHAINS[call.name]
        terms = _terms(call, call.name)
        if balanced(call.name, terms) != call:
            terms = list(call.args)
        return f" {word} ".join(self.at(term, power) for term in terms), power

    def cast(self, cast: Cast) -> tuple[str, int]:
        return f"CAST({self.written(cast.arg)[0]} AS {type_text(cast.to)})", ATOM

    def case(self, case: Case) -> tuple[str, int]:
        parts = [f"WHEN {self.written(c)[0]} THEN {self.written(v)[0]}" for c, v in case.branches]
        if case.otherwise is not None:
            parts.append(f"ELSE {self.written(case.otherwise)[0]}")
        return f"CASE {' '.join(parts)} END", ATOM

    def field(self, field: Field) -> tuple[str, int]:
        return (f"{name_text(self.variable)}." if self.variable else "") + name_text(field.name), ATOM

    def nav(self, nav: Nav) -> tuple[str, int]:
        body = ExpressionWriter(nav.variable).written(nav.body)[0]
        text = f"{_FINAL if nav.final else ''}{nav.anchor.value}({body}{f', {nav.offset}' if nav.offset else ''})"
        if nav.shift:
            word = "NEXT" if nav.shift > 0 else "PREV"
            text = f"{word}({text}{f', {abs(nav.shift)}' if abs(nav.shift) > 1 else ''})"
        return text, ATOM

    def aggregate(self, node: Aggregate) -> tuple[str, int]:
        if node.body is None:
            body = f"{name_text(node.variable)}.*" if node.variable else "*"
        else:
            body = ExpressionWriter(node.variable).written(node.body)[0]
        return f"{_FINAL if node.final else ''}{node.function.upper()}{'_BEFORE' if node.before else ''}({body})", ATOM

    def classifier(self, node: Classifier) -> tuple[str, int]:
        text = f"CLASSIFIER({name_text(node.variable) if node.variable else ''})"
        if node.offset or node.anchor is Anchor.FIRST or node.final:
            text = f"{_FINAL if node.final else ''}{node.anchor.value}({text}{f', {node.offset}' if node.offset else ''})"
        return text, ATOM

    def match_number(self, node: MatchNumber) -> tuple[str, int]:
        return "MATCH_NUMBER()", ATOM

    def literal(self, literal: Literal) -> tuple[str, int]:
        text = literal_text(literal.value)
        return text, SIGN if text.startswith("-") else ATOM

    def raw_column(self, column: RawColumn) -> tuple[str, int]:
        return ".".join(name_text(part) for part in column.parts), ATOM

    def raw_call(self, call: RawCall) -> tuple[str, int]:
        star = f"{name_text(call.star_of)}.*" if call.star_of else "*"
        inside = star if call.star else ("DISTINCT " if call.distinct else "") + self.list(call.args)
        return f"{call.name}({inside})", ATOM


_FINAL = "FINAL "
_WRITERS: dict[type, str] = {
    Call: "call",
    Cast: "cast",
    Case: "case",
    Field: "field",
    Literal: "literal",
    Nav: "nav",
    Aggregate: "aggregate",
    Classifier: "classifier",
    MatchNumber: "match_number",
    RawColumn: "raw_column",
    RawCall: "raw_call",
}


def _terms(expr: Expr, name: str) -> list[Expr]:
    if isinstance(expr, Call) and expr.name == name:
        return [term for arg in expr.args for term in _terms(arg, name)]
    return [expr]


def name_text(name: str) -> str:
    """In quotes where it would not be read as a name."""
    plain = name[:1].isalpha() or name[:1] == "_"
    if plain and all(c.isalnum() or c == "_" for c in name) and name.upper() not in NOT_NAMES:
        return name
    return '"' + name.replace('"', '""') + '"'


def literal_text(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, Decimal):
        return f"{value:f}" + ("" if "." in f"{value:f}" else ".")
    if isinstance(value, datetime | Moment):
        return f"TIMESTAMP '{timestamp_text(value)}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, timedelta | Duration):
        return f"INTERVAL '{interval_text(value)}'"
    return str(value)


def _float_text(value: float) -> str:
    """With an exponent, which is what makes a constant a double."""
    text = repr(value)
    if text.lstrip("-")[0] in "in":
        return f"CAST('{text}' AS DOUBLE)"
    return text if "e" in text else f"{text}e0"


TYPE_NAMES = {
    Kind.BOOL: "BOOLEAN", Kind.FLOAT: "DOUBLE", Kind.STRING: "VARCHAR", Kind.DATE: "DATE",
}  # fmt: skip
INTEGER_NAMES = {8: "TINYINT", 16: "SMALLINT", 32: "INT", 64: "BIGINT"}


def type_text(type_: Type) -> str:
    if type_.kind is Kind.DECIMAL:
        return f"DECIMAL({type_.precision}, {type_.scale})"
    if type_.kind is Kind.TIMESTAMP:
        return ("TIMESTAMP" if type_.zone is None else "TIMESTAMPTZ") + ("_NS" if type_.unit == "ns" else "")
    if type_.kind is Kind.INTERVAL:
        return "INTERVAL_NS" if type_.unit == "ns" else "INTERVAL"
    if type_.kind is Kind.INT:
        return INTEGER_NAMES[type_.bits]
    return TYPE_NAMES.get(type_.kind, "NULL")
