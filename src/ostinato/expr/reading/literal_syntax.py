"""How constants and type names are written: DATE '...', INTERVAL '5' MINUTE, DECIMAL(10, 2)."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal

from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.base.span import Span
from ostinato.expr.nodes import Literal
from ostinato.expr.reading.cursor import TokenCursor
from ostinato.expr.times.nanoseconds import Duration, Moment, is_zoned
from ostinato.expr.times.temporal_text import NANOS, interval_of, is_calendar_unit, parse_date, parse_interval, parse_timestamp, unit_named
from ostinato.expr.types import (
    BOOL,
    DATE,
    FLOAT,
    INT,
    INTERVAL,
    INTERVAL_NS,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NS,
    TIMESTAMP_TZ,
    TIMESTAMP_TZ_NS,
    Type,
    decimal,
)

DECIMAL_DIGITS = 18  # what a scaled int64 holds exactly
WIDEST_DECIMAL = 19  # the type of results that may use the rest of an int64's range
SIMPLE_TYPES: dict[str, Type] = {
    "BOOLEAN": BOOL, "BOOL": BOOL,
    "BIGINT": INT, "LONG": INT, "INT8": INT, "INT64": INT, "INT": replace(INT, bits=32), "INTEGER": replace(INT, bits=32),
    "INT4": replace(INT, bits=32), "INT32": replace(INT, bits=32), "SMALLINT": replace(INT, bits=16), "SHORT": replace(INT, bits=16),
    "INT2": replace(INT, bits=16), "TINYINT": replace(INT, bits=8), "BYTE": replace(INT, bits=8),
    "DOUBLE": FLOAT, "FLOAT": FLOAT, "REAL": FLOAT, "FLOAT8": FLOAT, "FLOAT4": FLOAT,
    "VARCHAR": STRING, "CHAR": STRING, "TEXT": STRING, "STRING": STRING,
    "DATE": DATE, "TIMESTAMP": TIMESTAMP, "DATETIME": TIMESTAMP, "TIMESTAMPTZ": TIMESTAMP_TZ, "INTERVAL": INTERVAL,
    "TIMESTAMP_NS": TIMESTAMP_NS, "TIMESTAMPTZ_NS": TIMESTAMP_TZ_NS, "INTERVAL_NS": INTERVAL_NS,
}  # fmt: skip
DECIMALS = ("DECIMAL", "NUMERIC", "DEC")
NO_MONTHS = "Months and years differ in length; write days or weeks, such as INTERVAL '30' DAY"


def temporal_literal(cursor: TokenCursor) -> Literal | None:
    """DATE '...', TIMESTAMP [WITH|WITHOUT TIME ZONE] '...', TIMESTAMPTZ '...', INTERVAL ...; None where none of these stands."""
    if cursor.at_word("DATE", "TIMESTAMPTZ") and cursor.peek(1).kind == "string":
        return _date_or_zoned(cursor)
    if cursor.at_word("TIMESTAMP") and (cursor.peek(1).kind == "string" or cursor.peek(1).is_word("WITH", "WITHOUT")):
        return _timestamp(cursor)
    if cursor.at_word("INTERVAL") and (cursor.peek(1).kind in ("string", "number") or cursor.peek(1).is_op("-", "+")):
        return _interval(cursor)
    return None


def _date_or_zoned(cursor: TokenCursor) -> Literal:
    word, text = cursor.next(), cursor.next()
    value: date | Moment
    try:
        value = parse_date(text.value) if word.is_word("DATE") else parse_timestamp(text.value)
    except ValueError as e:
        raise QuerySyntaxError(_sentence(e), span=text.span) from None
    if isinstance(value, datetime | Moment) and not is_zoned(value):
        raise QuerySyntaxError("This timestamp has no time zone", hint="Add one, such as +00", span=text.span)
    return Literal(value, span=word.span.to(text.span))


def _timestamp(cursor: TokenCursor) -> Literal:
    word = cursor.next()
    zoned = _zone_words(cursor)
    if cursor.peek().kind != "string":
        cursor.fail("a quoted timestamp", hint="TIMESTAMP '2024-01-31 12:00:00'")
    text = cursor.next()
    try:
        value = parse_timestamp(text.value)
    except ValueError as e:
        raise QuerySyntaxError(_sentence(e), span=text.span) from None
    if zoned is not None and zoned != is_zoned(value):
        wanted = "lacks a time zone" if zoned else "has a time zone"
        raise QuerySyntaxError(f"This timestamp {wanted}", hint="Let the text and the type agree", span=text.span)
    return Literal(value, span=word.span.to(text.span))


def _zone_words(cursor: TokenCursor) -> bool | None:
    if cursor.accept_words("WITH", "TIME", "ZONE"):
        return True
    return False if cursor.accept_words("WITHOUT", "TIME", "ZONE") else None


def _interval(cursor: TokenCursor) -> Literal:
    start = cursor.next().span
    negative = False
    while sign := cursor.accept_op("-", "+"):
        negative ^= sign.text == "-"
    value = interval_quantity(cursor)
    return Literal(-value if negative else value, span=cursor.span_from(start))


def interval_quantity(cursor: TokenCursor) -> timedelta | Duration:
    """`'5' MINUTE`, `'1 hour'`, `5 minutes`: what follows the word INTERVAL (or, in SASE+, WITHIN)."""
    token = cursor.peek()
    if token.kind not in ("string", "number"):
        cursor.fail("a length of time", hint="INTERVAL '5' MINUTE")
    cursor.next()
    unit = _unit(cursor)
    try:
        if token.kind == "string":
            return parse_interval(token.value, unit)
        if unit is None:
            cursor.fail("a unit of time such as MINUTE")
        length = Decimal(token.value) * NANOS[unit]
        if length != length.to_integral_value():
            raise ValueError(f"{token.value} {unit}s is finer than nanoseconds")
        return interval_of(int(length))
    except ValueError as e:
        kind: type[OstinatoError] = UnsupportedError if "no fixed length" in str(e) else QuerySyntaxError
        hint = NO_MONTHS if kind is UnsupportedError else "INTERVAL '5' MINUTE, INTERVAL '1 day 02:00:00'"
        raise kind(_sentence(e), hint=hint, span=token.span) from None
    except (OverflowError, ArithmeticError):
        raise QuerySyntaxError("The interval is too long", span=token.span) from None


def _unit(cursor: TokenCursor) -> str | None:
    token = cursor.peek()
    if token.kind != "name":
        return None
    if is_calendar_unit(token.text):
        raise UnsupportedError(f"Intervals in {token.text.lower()} are not offered", hint=NO_MONTHS, span=token.span)
    unit = unit_named(token.text)
    if unit is None:
        return None
    cursor.next()
    if cursor.at_word("TO") and unit_named(cursor.peek(1).text):
        raise UnsupportedError(
            "Intervals with two units are not offered", hint="INTERVAL '1 day 02:30:00'", span=cursor.peek().span.to(cursor.peek(1).span)
        )
    return unit


def type_name(cursor: TokenCursor) -> Type:
    """The type of a CAST."""
    token = cursor.peek()
    word = token.text.upper() if token.kind in ("name", "quoted") else ""
    if word in DECIMALS:
        cursor.next()
        return _decimal_type(cursor, token.span)
    if word not in SIMPLE_TYPES:
        cursor.fail("the name of a type", hint=f"One of {', '.join(sorted(set(SIMPLE_TYPES) | {'DECIMAL(p, s)'}))}")
    cursor.next()
    if word == "DOUBLE":
        cursor.accept_word("PRECISION")
    if word == "TIMESTAMP" and _zone_words(cursor):
        return TIMESTAMP_TZ
    if word in ("VARCHAR", "CHAR") and cursor.at_op("("):
        raise UnsupportedError("Strings have no length limit here", hint="Leave the length out", span=cursor.peek().span)
    return SIMPLE_TYPES[word]


def _decimal_type(cursor: TokenCursor, start: Span) -> Type:
    precision, scale = DECIMAL_DIGITS, 3
    if cursor.accept_op("("):
        precision, scale = _digits(cursor), 0
        if cursor.accept_op(","):
            scale = _digits(cursor)
        cursor.expect_op(")")
    span = cursor.span_from(start)
    if precision > WIDEST_DECIMAL:
        raise UnsupportedError(
            f"decimal({precision},{scale}) is too wide", hint=f"Decimals are exact up to {DECIMAL_DIGITS} digits", span=span
        )
    if precision < 1 or scale > precision:
        raise QuerySyntaxError(f"decimal({precision},{scale}) does not exist", hint="1 <= precision, scale <= precision", span=span)
    return decimal(precision, scale)


def _digits(cursor: TokenCursor) -> int:
    token = cursor.peek()
    if token.kind != "number" or not isinstance(token.value, int):
        cursor.fail("a number of digits")
    return int(cursor.next().value)


def _sentence(error: Exception) -> str:
    text = str(error)
    return text[:1].upper() + text[1:]
