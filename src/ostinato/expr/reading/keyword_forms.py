"""Expressions that are spelled with words of their own: CASE, CAST, EXTRACT, and calls with words between their arguments."""

from __future__ import annotations

from collections.abc import Callable

from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Call, Case, Cast, Expr
from ostinato.expr.reading.cursor import TokenCursor
from ostinato.expr.reading.literal_syntax import type_name
from ostinato.expr.reading.tokens import Token

Expression = Callable[..., Expr]
TRIMS = {"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}

EXTRACTED = {
    "YEAR": "year", "QUARTER": "quarter", "MONTH": "month", "WEEK": "week", "DAY": "day", "HOUR": "hour", "MINUTE": "minute",
    "SECOND": "second", "EPOCH": "epoch", "ISODOW": "day_of_week", "DAY_OF_WEEK": "day_of_week", "DOY": "day_of_year",
    "DAY_OF_YEAR": "day_of_year", "DAYOFYEAR": "day_of_year", "DAYOFMONTH": "day",
}  # fmt: skip


def case_form(cursor: TokenCursor, expression: Expression) -> Case:
    """Both forms; the simple one becomes the searched one."""
    start = cursor.next().span
    subject = None if cursor.at_word("WHEN") else expression()
    branches: list[tuple[Expr, Expr]] = []
    while cursor.accept_word("WHEN"):
        condition = expression()
        if subject is not None:
            condition = Call("eq", (subject, condition), span=condition.span)
        cursor.expect_word("THEN")
        branches.append((condition, expression()))
    if not branches:
        cursor.fail("WHEN")
    otherwise = expression() if cursor.accept_word("ELSE") else None
    cursor.expect_word("END")
    return Case(tuple(branches), otherwise, span=cursor.span_from(start))


def cast_form(cursor: TokenCursor, expression: Expression) -> Cast:
    start = cursor.next().span
    cursor.expect_op("(")
    arg = expression()
    cursor.expect_word("AS", hint="CAST(x AS DOUBLE)")
    to = type_name(cursor)
    cursor.expect_op(")")
    return Cast(arg, to, span=cursor.span_from(start))


def extract_form(cursor: TokenCursor, expression: Expression) -> Call:
    start = cursor.next().span
    cursor.expect_op("(")
    unit = cursor.peek()
    name = EXTRACTED.get(str(unit.value).upper()) if unit.kind in ("name", "string") else None
    if unit.is_word("DOW"):
        raise UnsupportedError("DOW counts from Sunday or Monday, 0 or 1, by engine", hint="ISODOW: Monday is 1", span=unit.span)
    if name is None:
        cursor.fail("a unit of time", hint=f"One of {', '.join(EXTRACTED)}")
    cursor.next()
    cursor.expect_word("FROM", hint="EXTRACT(HOUR FROM x)")
    arg = expression()
    cursor.expect_op(")")
    return Call(name, (arg,), span=cursor.span_from(start))


def worded_call(cursor: TokenCursor, name: Token, expression: Expression, comparison: int) -> tuple[str, tuple[Expr, ...]] | None:
    """The standard's `SUBSTRING(x FROM 2 FOR 3)`, `POSITION(x IN y)` and `TRIM(LEADING '0' FROM x)` as plain calls; None (and nothing
    taken) for other calls. The parenthesis is taken; `comparison` is how tightly IN binds."""
    if name.is_word("TRIM") and cursor.at_word(*TRIMS) and not cursor.peek(1).is_op(",", ")", "."):
        return _trim(cursor, expression)
    if name.is_word("POSITION"):
        part = expression(comparison)
        cursor.expect_word("IN", hint="POSITION(part IN text)")
        return "strpos", (expression(), part)
    if name.is_word("SUBSTRING", "TRIM") and not cursor.at_op(")"):
        first = expression()
        if cursor.accept_word("FROM"):
            second = expression()
            if name.is_word("TRIM"):
                return "trim", (second, first)
            return "substring", (first, second, expression()) if cursor.accept_word("FOR") else (first, second)
        rest = []
        while cursor.accept_op(","):
            rest.append(expression())
        return name.value, (first, *rest)
    return None


def _trim(cursor: TokenCursor, expression: Expression) -> tuple[str, tuple[Expr, ...]]:
    name = TRIMS[cursor.next().text.upper()]
    characters = () if cursor.at_word("FROM") else (expression(),)
    cursor.expect_word("FROM", hint="TRIM(LEADING '0' FROM x)")
    return name, (expression(), *characters)
