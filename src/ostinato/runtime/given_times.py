"""Lateness and watermarks as people give them, in the unit of a program's time column."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from ostinato.base.errors import DataError
from ostinato.expr.nanoseconds import Duration, nanos_of_length
from ostinato.expr.physical import to_physical
from ostinato.expr.temporal_text import NANOS, parse_interval
from ostinato.expr.types import DATE, Kind, Type
from ostinato.program.program import Program

Lateness = timedelta | Duration | int | str
Watermark = int | date | datetime


def lateness_units(lateness: Lateness, program: Program) -> int:
    if program.time < 0:
        raise DataError("lateness= needs a time column to measure", hint="Order the rows by a timestamp, date or integer column, ascending")
    own = program.columns[program.time].type
    kind = own.kind
    if isinstance(lateness, str):
        try:
            lateness = parse_interval(lateness)
        except ValueError as error:
            raise DataError(f"lateness={lateness!r} is no length of time: {error}", hint="Write lateness='5 minutes'") from error
    if not isinstance(lateness, timedelta | Duration | int) or isinstance(lateness, int) != (kind is Kind.INT):
        unit = "a whole number, in the unit of the time column" if kind is Kind.INT else "a timedelta, or a text such as '5 minutes'"
        raise DataError(f"lateness={lateness!r} does not fit the time column", hint=f"It must be {unit}")
    return not_negative(_in_units(lateness, own))


def not_negative(lateness: int) -> int:
    if lateness < 0:
        raise DataError(f"lateness={lateness!r} is negative", hint="It is how long rows may be late")
    return lateness


def _in_units(lateness: timedelta | Duration | int, own: Type) -> int:
    if isinstance(lateness, int):
        return lateness
    nanos = nanos_of_length(lateness)
    return -(-nanos // NANOS["day"]) if own.kind is Kind.DATE else nanos * own.ticks // 1000


def watermark_units(watermark: Watermark, program: Program) -> int:
    """A number is in the unit of the time column already."""
    if isinstance(watermark, int) and not isinstance(watermark, bool):
        if not -(2**63) <= watermark < 2**63:
            raise DataError(f"The watermark {watermark} does not fit 64 bits", hint="To let all time pass, close the session")
        return watermark
    own = program.columns[program.time].type if program.time >= 0 else None
    if own is not None and own.kind is Kind.TIMESTAMP and isinstance(watermark, datetime):
        return to_physical(watermark, own)
    if own is not None and own.kind is Kind.DATE and isinstance(watermark, date) and not isinstance(watermark, datetime):
        return to_physical(watermark, DATE)
    hint = "It is a number in the unit of the time column (microseconds or nanoseconds), a datetime for timestamps, or a date for dates"
    raise DataError(f"The watermark {watermark!r} does not fit the time column", hint=hint)
