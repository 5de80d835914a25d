"""Lateness and watermarks as people give them, in the unit of a program's time column."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from ostinato.base.errors import DataError
from ostinato.expr.times.nanoseconds import Duration, nanos_of_length
from ostinato.expr.times.temporal_text import NANOS, parse_interval
from ostinato.expr.types import DATE, Kind
from ostinato.expr.typing.physical import to_physical
from ostinato.program.input import Input
from ostinato.runtime.rows.ingest import FAREST

Lateness = timedelta | Duration | int | str
Watermark = int | date | datetime


def lateness_units(lateness: Lateness, reads: Input) -> int:
    """A number is in the unit of the time column already."""
    check_fits(lateness, reads)
    if isinstance(lateness, int):
        return _in_range(lateness, lateness)
    own = reads.columns[reads.time].type
    try:
        length = parse_interval(lateness) if isinstance(lateness, str) else lateness
    except ValueError as error:
        raise DataError(f"lateness={lateness!r} is no length of time: {error}", hint="Write lateness='5 minutes'") from error
    nanos = nanos_of_length(length)
    return _in_range(-(-nanos // NANOS["day"]) if own.kind is Kind.DATE else nanos * own.ticks // 1000, lateness)


def check_fits(lateness: object, reads: Input) -> None:
    """A length of time says nothing about an integer, whose unit nobody knows."""
    if reads.time < 0:
        if lateness == 0:
            return
        raise DataError("lateness= needs a time column to measure", hint="Order the rows by a timestamp, date or integer column, ascending")
    own = reads.columns[reads.time]
    is_number = isinstance(lateness, int) and not isinstance(lateness, bool)
    if is_number or (isinstance(lateness, timedelta | Duration | str) and own.type.kind is not Kind.INT):
        return
    which = "a number" if own.type.kind is Kind.INT else f"a {own.type.kind.value}"
    unit = "It must be a whole number, in the unit of that column"
    hint = unit if own.type.kind is Kind.INT else f"{unit}, a timedelta, or a text such as '5 minutes'"
    raise DataError(f"lateness={lateness!r} does not fit the time column `{own.name}`, which is {which}", hint=hint)


def _in_range(length: int, lateness: Lateness) -> int:
    if length < 0:
        raise DataError(f"lateness={lateness!r} is negative", hint="It is how long rows may be late")
    if length > FAREST:
        raise DataError(f"lateness={lateness!r} is longer than can be calculated with", hint="To wait for all rows, leave it out")
    return length


def watermark_units(watermark: Watermark, reads: Input) -> int:
    """A number is in the unit of the time column already."""
    if isinstance(watermark, int) and not isinstance(watermark, bool):
        if not -(2**63) <= watermark < 2**63:
            raise DataError(f"The watermark {watermark} does not fit 64 bits", hint="To let all time pass, close the session")
        return watermark
    own = reads.columns[reads.time].type if reads.time >= 0 else None
    if own is not None and own.kind is Kind.TIMESTAMP and isinstance(watermark, datetime):
        return to_physical(watermark, own)
    if own is not None and own.kind is Kind.DATE and isinstance(watermark, date) and not isinstance(watermark, datetime):
        return to_physical(watermark, DATE)
    hint = "It is a number in the unit of the time column (microseconds or nanoseconds), a datetime for timestamps, or a date for dates"
    raise DataError(f"The watermark {watermark!r} does not fit the time column", hint=hint)
