"""Dates, times and intervals as text: read and written the same way by literals, casts and canonical text."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

DATE_FORM = re.compile(r"\s*([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})\s*")
TIMESTAMP_FORM = re.compile(
    r"\s*([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:[T ]\s*([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?)?\s*"
    r"(Z|z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?|[A-Za-z]+/[A-Za-z_/+-]+)?\s*"
)
CLOCK = re.compile(r"([+-]?)([0-9]{1,9}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6}))?)?")
QUANTITY = re.compile(r"([+-]?[0-9]{1,18})(?:\.([0-9]{1,9}))?")

UNITS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
SHORT_UNITS = {
    "us": "microsecond", "micro": "microsecond", "ms": "millisecond", "milli": "millisecond", "msec": "millisecond", "s": "second",
    "sec": "second", "m": "minute", "min": "minute", "h": "hour", "hr": "hour", "d": "day", "w": "week",
}  # fmt: skip
CALENDAR_UNITS = ("month", "quarter", "year", "decade", "century", "mon", "yr", "y")
MAX_INTERVAL = 86_400_000_000 * 999_999_999  # what timedelta holds


def unit_named(word: str) -> str | None:
    """The unit of fixed length that a word names (`minutes` -> `minute`), or None."""
    word = word.lower()
    for name in (word, word.removesuffix("s")):
        if name in UNITS:
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


def parse_timestamp(text: str) -> datetime:
    """Aware and in UTC where the text names a zone, else naive."""
    found = TIMESTAMP_FORM.fullmatch(text)
    if not found:
        raise ValueError(f"'{text}' is not a timestamp of the form YYYY-MM-DD HH:MM:SS[.ffffff][+HH:MM]")
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    if fraction and fraction[6:].strip("0"):
        raise ValueError(f"'{text}' has a fraction finer than microseconds")
    micros = int((fraction or "")[:6].ljust(6, "0"))
    try:
        value = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), micros)
        return value if zone is None else value.replace(tzinfo=_zone(zone)).astimezone(UTC)
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


def parse_interval(text: str, unit: str | None = None) -> timedelta:
    """`5` with a unit, or `1 day 02:00:00`, `90 minutes`, `1.5 hours`."""
    words = re.sub(r"(?<=[0-9])(?=[A-Za-z])", " ", text.replace(",", " ")).split()
    if not words:
        raise ValueError("an interval cannot be empty")
    micros, i = 0, 0
    while i < len(words):
        clock = CLOCK.fullmatch(words[i])
        if clock:
            micros += _clock_micros(clock)
            i += 1
            continue
        named = words[i + 1] if i + 1 < len(words) else unit if len(words) == 1 else None
        if named is None:
            raise ValueError(f"'{text}' lacks a unit such as minutes")
        micros += _quantity_micros(words[i], named, text)
        i += 2
    return interval_of(micros)


def interval_of(micros: int) -> timedelta:
    if abs(micros) > MAX_INTERVAL:
        raise ValueError("the interval is too long")
    return timedelta(microseconds=micros)


def _clock_micros(clock: re.Match[str]) -> int:
    sign, hours, minutes, seconds, fraction = clock.groups()
    micros = (int(hours) * 3600 + int(minutes) * 60 + int(seconds or 0)) * 1_000_000 + int((fraction or "").ljust(6, "0"))
    return -micros if sign == "-" else micros


def _quantity_micros(quantity: str, unit_word: str, text: str) -> int:
    found = QUANTITY.fullmatch(quantity)
    if not found:
        raise ValueError(f"'{text}' is not an interval such as '5 minutes' or '1 day 02:00:00'")
    if is_calendar_unit(unit_word):
        raise ValueError(f"{unit_word} has no fixed length")
    unit = unit_named(unit_word)
    if unit is None:
        raise ValueError(f"'{unit_word}' is not a unit of time")
    whole, fraction = found.groups()
    part = int(fraction) * UNITS[unit] // 10 ** len(fraction) if fraction else 0
    return int(whole) * UNITS[unit] + (-part if whole.startswith("-") else part)


def interval_text(value: timedelta) -> str:
    """Days, then the clock: `1 day 02:00:00`, `-00:00:05`. What `parse_interval` reads."""
    micros = (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds
    days, rest = divmod(abs(micros), UNITS["day"])
    sign = "-" if micros < 0 else ""
    seconds, fraction = divmod(rest, 1_000_000)
    clock = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}" + (f".{fraction:06}" if fraction else "")
    if not days:
        return clock
    shown = f"{sign}{days} day{'s' if days > 1 else ''}"
    return f"{shown} {clock}" if rest else shown


def timestamp_text(value: datetime) -> str:
    shown = value.replace(tzinfo=None).isoformat(sep=" ")
    shown = shown.rstrip("0") if "." in shown else shown
    return shown + "+00" if value.tzinfo is not None else shown
