"""Values as Python shows them, and as the engine holds them (see `expr.types`); strings stay strings."""

from __future__ import annotations

from datetime import UTC, date, timedelta
from decimal import Context, Decimal
from typing import Any

from ostinato.base.errors import DataError
from ostinato.expr.times.nanoseconds import EPOCH, Duration, Moment, nanos_of_length, nanos_of_time
from ostinato.expr.types import Kind, Type

INT64 = range(-(2**63), 2**63)
EPOCH_DAY = EPOCH.toordinal()
MICROSECONDS_PER_DAY = 86_400_000_000
DAYS = range(date.min.toordinal() - EPOCH_DAY, date.max.toordinal() - EPOCH_DAY + 1)
MOMENTS = range(DAYS.start * MICROSECONDS_PER_DAY, DAYS.stop * MICROSECONDS_PER_DAY)
WIDE = Context(prec=60)
REACH = "from 1677 to 2262, or 292 years"
_COARSER = {Kind.TIMESTAMP: "TIMESTAMP", Kind.INTERVAL: "INTERVAL"}  # types in microseconds


def to_physical(value: Any, type_: Type) -> Any:
    """Beyond what is held: DataError."""
    if value is None:
        return None
    kind = type_.kind
    if kind is Kind.DECIMAL:
        return in_range(scaled(value, type_.scale), type_)
    if kind is Kind.FLOAT:
        return float(value)
    if kind is Kind.TIMESTAMP:
        return in_range(nanos_of_time(value) * type_.ticks // 1000, type_)
    if kind is Kind.DATE:
        return value.toordinal() - EPOCH_DAY
    if kind is Kind.INTERVAL:
        return in_range(nanos_of_length(value) * type_.ticks // 1000, type_)
    return value


def scaled(value: Any, scale: int) -> int:
    """The integer value * 10**scale, halves away from zero."""
    if isinstance(value, int):
        return value * 10**scale
    exact = WIDE.scaleb(Decimal(value), scale)
    return int(exact.to_integral_value("ROUND_HALF_UP", WIDE))


def from_physical(value: Any, type_: Type) -> Any:
    if value is None:
        return None
    kind = type_.kind
    if type_.unit == "ns":
        return Duration(value) if kind is Kind.INTERVAL else Moment(value, type_.zone is not None)
    if kind is Kind.DECIMAL:
        return WIDE.scaleb(Decimal(value), -type_.scale)
    try:
        if kind is Kind.TIMESTAMP:
            moment = EPOCH + timedelta(microseconds=value)
            return moment if type_.zone is None else moment.replace(tzinfo=UTC)
        if kind is Kind.DATE:
            return date.fromordinal(value + EPOCH_DAY)
        if kind is Kind.INTERVAL:
            return timedelta(microseconds=value)
    except (OverflowError, ValueError):
        raise overflow(type_) from None
    return value


def computable(type_: Type) -> range:
    """The physical values that a calculation may give: 64 bits, and for times the years that a calendar shows."""
    return INT64 if type_.unit == "ns" else {Kind.DATE: DAYS, Kind.TIMESTAMP: MOMENTS}.get(type_.kind, INT64)


def in_range(value: int, type_: Type) -> int:
    if value not in computable(type_):
        raise overflow(type_)
    return value


def overflow(type_: Type) -> DataError:
    if type_.unit == "ns":
        return DataError(f"A value is out of range for {type_}", hint=f"Nanoseconds reach {REACH}; CAST(x AS {_COARSER[type_.kind]})")
    if type_.is_temporal:
        return DataError(f"A {type_} is out of range", hint="Years go from 1 to 9999")
    hint = None if type_.kind is Kind.INTERVAL else "CAST to DOUBLE if rounding is acceptable"
    article = "A" if type_.kind is Kind.DECIMAL else "An"
    return DataError(f"{article} {type_} calculation went beyond 64 bits", hint=hint)
