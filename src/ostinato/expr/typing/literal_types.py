"""The type of a constant."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from ostinato.base.errors import TypeMismatchError
from ostinato.base.span import Span
from ostinato.expr.times.nanoseconds import Duration, Moment
from ostinato.expr.types import (
    BOOL,
    DATE,
    FLOAT,
    INT,
    INTERVAL,
    INTERVAL_NS,
    NULL,
    STRING,
    Type,
    decimal,
    timestamp,
)

INT64 = range(-(2**63), 2**63)
DIGITS = 18


def literal_type(value: Any, span: Span | None = None) -> Type:
    """A decimal constant of more than 18 digits is a double, as only that can hold it."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        if value not in INT64:
            raise TypeMismatchError(f"{value} does not fit 64 bits", hint="Write it as a double, such as 1e20", span=span)
        return INT
    if isinstance(value, Decimal):
        return _decimal_type(value)
    for kind, type_ in ((float, FLOAT), (str, STRING), (timedelta, INTERVAL), (Duration, INTERVAL_NS)):
        if isinstance(value, kind):
            return type_
    if isinstance(value, datetime):
        return timestamp(zoned=value.tzinfo is not None)
    if isinstance(value, Moment):
        return timestamp(zoned=value.zoned, nanos=True)
    if isinstance(value, date):
        return DATE
    raise TypeMismatchError(f"{type(value).__name__} is not a type of constants", span=span)


def _decimal_type(value: Decimal) -> Type:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):  # NaN, infinity
        return FLOAT
    scale = max(0, -exponent)
    precision = max(len(digits) + max(0, exponent), scale, 1)
    return FLOAT if precision > DIGITS else decimal(precision, scale)
