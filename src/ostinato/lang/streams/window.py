"""`WITHIN 3 hours`, `WITHIN 500 events`, `WITHIN 10`: how long a match may be."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from ostinato.algebra.query import LONGEST, Unit, Within
from ostinato.base.errors import QuerySyntaxError, TypeMismatchError
from ostinato.base.span import NOWHERE, Span
from ostinato.expr.times.temporal_text import NANOS, unit_named
from ostinato.expr.types import Kind, Type


@dataclass(frozen=True)
class Window:
    """`3 hours`, `500 events`, `10`: the number as it is written, and the unit in its long singular form, None if there is none."""

    length: str
    unit: str | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


def window_unit(word: str) -> str | None:
    """The unit in its long singular form: `hours`, `HOUR` and `h` are all `hour`; `events` is `event`."""
    return "event" if word.lower() in ("event", "events") else unit_named(word)


def lower_window(window: Window | None, time: str, time_type: Type) -> Within | None:
    if window is None:
        return None
    length = Decimal(window.length)
    if window.unit == "event":
        return Within(_bounded(_whole(length, window, least=1), window), Unit.EVENTS)
    is_integer_time = time_type.kind is Kind.INT
    if window.unit is None and not is_integer_time:
        raise TypeMismatchError(
            f"WITHIN {window.length} has no unit, but the time column `{time}` is a {time_type}",
            hint=f"Write a unit: WITHIN {window.length} seconds | minutes | hours | days, or WITHIN {window.length} events",
            span=window.span,
        )
    if window.unit is not None and is_integer_time:
        raise TypeMismatchError(
            f"WITHIN {window.length} {window.unit}s needs a timestamp, but the time column `{time}` is an integer",
            hint=f"An integer time has its own unit: write the number alone, WITHIN {window.length}",
            span=window.span,
        )
    if window.unit is None:
        return Within(_bounded(_whole(length, window, least=0), window), Unit.TIME)
    # floored: times that differ by whole microseconds differ by at most 1500 ns if they differ by at most 1 us
    nanos = _whole(length * NANOS[window.unit], window, least=0)
    return Within(_bounded(nanos * time_type.ticks // 1000, window), Unit.TIME)


def _whole(length: Decimal, window: Window, least: int) -> int:
    if length != length.to_integral_value():
        raise QuerySyntaxError(f"WITHIN {window.length} is not a whole number of {_finest(window)}", span=window.span)
    if length < least:
        raise QuerySyntaxError("A window of no events holds no match", hint="The least is WITHIN 1 events", span=window.span)
    return int(length)


def _bounded(length: int, window: Window) -> int:
    if length > LONGEST:
        raise QuerySyntaxError("This window is too long", hint="Leave WITHIN out for no limit", span=window.span)
    return length


def _finest(window: Window) -> str:
    return {None: "time units", "event": "events"}.get(window.unit, "nanoseconds")
