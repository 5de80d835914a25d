"""Dates, times and intervals as text: read and written the same way by literals, casts and canonical text."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ostinato.expr.times.nanoseconds import EPOCH, Duration, Moment, is_zoned, nanos_of_length, nanos_of_time

DATE_FORM = re.compile(r"\s*([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})\s*")
TIMESTAMP_FORM = re.compile(
    r"\s*([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:[T ]\s*([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?)?\s*"
    r"(Z|z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?|[A-Za-z]+/[A-Za-z_/+-]+)?\s*"
)
CLOCK = re.compile(r"([+-]?)([0-9]{1,9}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?")
QUANTITY = re.compile(r"([+-]?)([0-9]{1,18})(?:\.([0-9]{1,9}))?")

UNITS = {  # in microseconds; NANOS has finer ones too
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
NANOS = {"nanosecond": 1, **{unit: micros * 1000 for unit, micros in UNITS.items()}}
SHORT_UNITS = {
    "ns": "nanosecond", "nano": "nanosecond", "nsec": "nanosecond",
    "us": "microsecond", "micro": "microsecond", "ms": "millisecond", "milli": "millisecond", "msec": "millisecond", "s": "second",
    "sec": "second", "m": "minute", "min": "minute", "h": "hour", "hr": "hour", "d": "day", "w": "week",
}  # fmt: skip
CALENDAR_UNITS = ("month", "quarter", "year", "decade", "century", "mon", "yr", "y")
MAX_INTERVAL = NANOS["day"] * 999_999_999  # what timedelta holds


def unit_named(word: str) -> str | None:
    """The unit of fixed length that a word names (`minutes` -> `minute`), or None."""
    word = word.lower()
    for name in (word, word.removesuffix("s")):
        if name in NANOS:
            return name
        if name in SHORT_UNITS:
            return SHORT_UNITS[name]
    return None


def is_calendar_unit(word: str) -> bool:
    word = word.lower()
    return word in CALENDAR_UNITS or word.removesuffix("s") in CALENDAR_UNITS or word == "centuries"


def parse_date(text: str) -> date:
    found = DATE_FORM.fullmatch(text)
    if not found:
        raise ValueError(f"'{text}' is not a date of the form YYYY-MM-DD")
    try:
        return date(*map(int, found.groups()))
    except ValueError as e:
        raise ValueError(f"'{text}' is not a date: {e}") from None


def parse_timestamp(text: str) -> datetime | Moment:
    """Aware and in UTC where the text names a zone, else naive. A `Moment` only where microseconds do not say it."""
    found = TIMESTAMP_FORM.fullmatch(text)
    if not found:
        raise ValueError(f"'{text}' is not a timestamp of the form YYYY-MM-DD HH:MM:SS[.ffffff][+HH:MM]")
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    micros, nanos = divmod(int((fraction or "").ljust(9, "0")), 1000)
    try:
        value = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), micros)
        value = value if zone is None else value.replace(tzinfo=_zone(zone)).astimezone(UTC)
        return value if not nanos else Moment(nanos_of_time(value) + nanos, zone is not None)
    except (ValueError, OverflowError, ZoneInfoNotFoundError) as e:
        raise ValueError(f"'{text}' is not a timestamp: {e}") from None


def _zone(text: str) -> tzinfo:
    if text.upper() in ("Z", "UTC"):
        return UTC
    if text[0] in "+-":
        digits = text[1:].replace(":", "").ljust(4, "0")
        offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        return timezone(-offset if text[0] == "-" else offset)
    return ZoneInfo(text)


def parse_interval(text: str, unit: str | None = None) -> timedelta | Duration:
    """`5` with a unit, or `1 day 02:00:00`, `90 minutes`, `1.5 hours`."""
    words = re.sub(r"(?<=[0-9])(?=[A-Za-z])", " ", text.replace(",", " ")).split()
    if not words:
        raise ValueError("an interval cannot be empty")
    nanos, i = 0, 0
    while i < len(words):
        clock = CLOCK.fullmatch(words[i])
        if clock:
            nanos += _clock_nanos(clock)
            i += 1
            continue
        named = words[i + 1] if i + 1 < len(words) else unit if len(words) == 1 else None
        if named is None:
            raise ValueError(f"'{text}' lacks a unit such as minutes")
        nanos += _quantity_nanos(words[i], named, text)
        i += 2
    return interval_of(nanos)


def interval_of(nanos: int) -> timedelta | Duration:
    """A `Duration` only where microseconds do not say it."""
    if abs(nanos) > (MAX_INTERVAL if nanos % 1000 == 0 else 2**63 - 1):
        raise ValueError("the interval is too long")
    return timedelta(microseconds=nanos // 1000) if nanos % 1000 == 0 else Duration(nanos)


def _clock_nanos(clock: re.Match[str]) -> int:
    sign, hours, minutes, seconds, fraction = clock.groups()
    nanos = (int(hours) * 3600 + int(minutes) * 60 + int(seconds or 0)) * NANOS["second"] + int((fraction or "").ljust(9, "0"))
    return -nanos if sign == "-" else nanos


def _quantity_nanos(quantity: str, unit_word: str, text: str) -> int:
    found = QUANTITY.fullmatch(quantity)
    if not found:
        raise ValueError(f"'{text}' is not an interval such as '5 minutes' or '1 day 02:00:00'")
    if is_calendar_unit(unit_word):
        raise ValueError(f"{unit_word} has no fixed length")
    unit = unit_named(unit_word)
    if unit is None:
        raise ValueError(f"'{unit_word}' is not a unit of time")
    sign, whole, fraction = found.groups()
    part, finer = divmod(int(fraction) * NANOS[unit], 10 ** len(fraction)) if fraction else (0, 0)
    if finer:
        raise ValueError(f"'{text}' is finer than nanoseconds")
    nanos = int(whole) * NANOS[unit] + part
    return -nanos if sign == "-" else nanos


def interval_text(value: timedelta | Duration) -> str:
    """Days, then the clock: `1 day 02:00:00`, `-00:00:05`. What `parse_interval` reads."""
    nanos = nanos_of_length(value)
    days, rest = divmod(abs(nanos), NANOS["day"])
    sign = "-" if nanos < 0 else ""
    seconds, fraction = divmod(rest, NANOS["second"])
    digits = f"{fraction:09}" if fraction % 1000 else f"{fraction // 1000:06}"
    clock = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}" + (f".{digits}" if fraction else "")
    if not days:
        return clock
    shown = f"{sign}{days} day{'s' if days > 1 else ''}"
    return f"{shown} {clock}" if rest else shown


def timestamp_text(value: datetime | Moment) -> str:
    micros, nanos = divmod(nanos_of_time(value), 1000)
    shown = (EPOCH + timedelta(microseconds=micros)).isoformat(sep=" ", timespec="microseconds") + f"{nanos:03}"
    return shown.rstrip("0").rstrip(".") + ("+00" if is_zoned(value) else "")
