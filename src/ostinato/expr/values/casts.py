"""Conversions of single values that are not null, from one physical form to another."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from ostinato.base.errors import DataError
from ostinato.expr.times.nanoseconds import Duration, Moment, as_utc, is_zoned
from ostinato.expr.times.temporal_text import interval_text, parse_date, parse_interval, parse_timestamp, timestamp_text
from ostinato.expr.types import Kind, Type
from ostinato.expr.typing.physical import INT64, from_physical, overflow, scaled, to_physical
from ostinato.expr.values.number_functions import half_away
from ostinato.expr.values.time_functions import DAY

INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*")
DECIMAL = re.compile(r"\s*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*")
FLOAT = re.compile(r"\s*[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)\s*", re.IGNORECASE)
TRUE, FALSE = ("true", "t", "1", "yes"), ("false", "f", "0", "no")


def cast(value: Any, own: Type, to: Type) -> Any:
    if to.kind is Kind.STRING:
        return text_of(value, own)
    if own.kind is Kind.STRING:
        return parsed(value, to)
    if to.kind is Kind.FLOAT:
        return float_of(value, own)
    if to.kind is Kind.BOOL:
        return value != 0
    if to.kind in (Kind.INT, Kind.DECIMAL):
        return checked_digits(exact_of(value, own, to.scale), to, value)
    if own.kind is Kind.DATE and to.kind is Kind.TIMESTAMP:
        return checked_digits(value * DAY * to.ticks, to, value)
    if own.kind is Kind.TIMESTAMP and to.kind is Kind.DATE:
        return value // (DAY * own.ticks)
    return checked_digits(value * to.ticks // own.ticks, to, value)


def float_of(value: Any, own: Type) -> float:
    return float(value) / 10.0**own.scale if own.scale else float(value)


def exact_of(value: Any, own: Type, scale: int) -> int:
    """A number as an integer scaled by 10**scale. Doubles: halves to even; decimals: halves away from zero."""
    if own.kind is Kind.FLOAT:
        moved = value * 10.0**scale
        if not math.isfinite(moved):
            raise DataError(f"{value} is not an exact number")
        return round(moved)
    if scale >= own.scale:
        return int(value) * 10 ** (scale - own.scale)
    return half_away(int(value), 10 ** (own.scale - scale))


def limit(to: Type) -> range:
    """The physical integers that a type holds."""
    if to.kind is Kind.DECIMAL and to.precision < 19:
        return range(1 - 10**to.precision, 10**to.precision)
    if to.kind is Kind.INT and to.bits < 64:
        return range(-(2 ** (to.bits - 1)), 2 ** (to.bits - 1)) if to.signed else range(2**to.bits)
    return INT64


def checked_digits(number: int, to: Type, value: Any) -> int:
    if number not in limit(to):
        raise out_of_range(to)
    return number


def out_of_range(to: Type) -> DataError:
    what = f"{to} of {to.bits} bits" if to.kind is Kind.INT else str(to)
    if to.unit == "ns":
        return overflow(to)
    return DataError(f"A value does not fit {what}", hint="CAST to a wider type, or to DOUBLE")


def text_of(value: Any, own: Type) -> str:
    shown = from_physical(value, own)
    if own.kind is Kind.BOOL:
        return "true" if shown else "false"
    if own.kind is Kind.DECIMAL:
        return f"{shown:f}"
    if own.kind is Kind.TIMESTAMP:
        return timestamp_text(shown)
    if own.kind is Kind.INTERVAL:
        return interval_text(shown)
    return repr(shown) if own.kind is Kind.FLOAT else str(shown)


def parsed(text: str, to: Type) -> Any:
    """A string as a value of another type; what does not look like one is an error."""
    try:
        return _PARSERS[to.kind](text, to)
    except ValueError as e:
        raise DataError(f"{str(e)[:1].upper()}{str(e)[1:]}" if str(e) else f"'{text}' is not a {to}") from None


def _int(text: str, to: Type) -> int:
    if not INTEGER.fullmatch(text) or len(text) > 100:
        raise ValueError(f"'{text}' is not an integer")
    return checked_digits(int(text), to, text)


def _decimal(text: str, to: Type) -> int:
    if not DECIMAL.fullmatch(text) or len(text) > 100:
        raise ValueError(f"'{text}' is not a decimal number")
    return checked_digits(scaled(Decimal(text.strip()), to.scale), to, text)


def _float(text: str, to: Type) -> float:
    if not FLOAT.fullmatch(text):
        raise ValueError(f"'{text}' is not a number")
    return float(text)


def _bool(text: str, to: Type) -> bool:
    word = text.strip().lower()
    if word not in TRUE + FALSE:
        raise ValueError(f"'{text}' is not a boolean")
    return word in TRUE


def _timestamp(text: str, to: Type) -> int:
    value = parse_timestamp(text)
    if to.zone is None and is_zoned(value):
        raise ValueError(f"'{text}' has a time zone, which a timestamp without zone cannot keep")
    if isinstance(value, Moment) and to.unit != "ns":
        raise ValueError(f"'{text}' has a fraction finer than microseconds; TIMESTAMP_NS and TIMESTAMPTZ_NS keep it")
    return to_physical(value if is_zoned(value) else as_utc(value), to)


def _interval(text: str, to: Type) -> int:
    value = parse_interval(text)
    if isinstance(value, Duration) and to.unit != "ns":
        raise ValueError(f"'{text}' is finer than microseconds; INTERVAL_NS keeps it")
    return to_physical(value, to)


_PARSERS: dict[Kind, Callable[[str, Type], Any]] = {
    Kind.INT: _int,
    Kind.DECIMAL: _decimal,
    Kind.FLOAT: _float,
    Kind.BOOL: _bool,
    Kind.STRING: lambda text, to: text,
    Kind.DATE: lambda text, to: to_physical(parse_date(text), to),
    Kind.TIMESTAMP: _timestamp,
    Kind.INTERVAL: _interval,
}
