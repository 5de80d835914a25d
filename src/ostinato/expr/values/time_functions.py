"""Parts of dates and timestamps, on single values in physical form (days, or UTC in the unit of their type)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from ostinato.base.errors import DataError
from ostinato.expr.times.temporal_text import UNITS
from ostinato.expr.types import Kind, Type
from ostinato.expr.typing.physical import EPOCH_DAY, in_range

DAY = UNITS["day"]


def day_number(value: int, own: Type) -> int:
    return value if own.kind is Kind.DATE else value // (DAY * own.ticks)


def calendar_date(days: int) -> date:
    try:
        return date.fromordinal(days + EPOCH_DAY)
    except (ValueError, OverflowError):
        raise DataError("A date is out of range", hint="Years go from 1 to 9999") from None


CALENDAR_PARTS: dict[str, Callable[[date], int]] = {
    "year": lambda d: d.year,
    "quarter": lambda d: (d.month + 2) // 3,
    "month": lambda d: d.month,
    "week": lambda d: d.isocalendar().week,
    "day": lambda d: d.day,
    "day_of_week": lambda d: d.isoweekday(),
    "day_of_year": lambda d: d.timetuple().tm_yday,
}

CLOCK_PARTS: dict[str, Callable[[int], int]] = {
    "hour": lambda micros: micros % DAY // UNITS["hour"],
    "minute": lambda micros: micros % UNITS["hour"] // UNITS["minute"],
    "second": lambda micros: micros % UNITS["minute"] // UNITS["second"],
}


def calendar_part(name: str, value: int, own: Type) -> int:
    return CALENDAR_PARTS[name](calendar_date(day_number(value, own)))


def clock_part(name: str, value: int, own: Type) -> int:
    return CLOCK_PARTS[name](value // own.ticks)


def epoch(value: int, own: Type) -> float:
    """Seconds, for times since 1970-01-01 UTC."""
    return float(value) / (1_000_000.0 * own.ticks)


def truncated(unit: str, value: int, own: Type) -> int:
    """The beginning of the unit that the value lies in, in the form of its type."""
    if unit in ("year", "quarter", "month", "week", "day"):
        days = _first_day(unit, day_number(value, own))
        return days if own.kind is Kind.DATE else in_range(days * DAY * own.ticks, own)
    return value if own.kind is Kind.DATE else value - value % (UNITS[unit] * own.ticks)


def _first_day(unit: str, days: int) -> int:
    if unit == "day":
        return days
    if unit == "week":
        return days - (days + 3) % 7
    at = calendar_date(days)
    month = {"year": 1, "quarter": (at.month - 1) // 3 * 3 + 1, "month": at.month}[unit]
    return date(at.year, month, 1).toordinal() - EPOCH_DAY
