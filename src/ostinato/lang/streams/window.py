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


def lower_window(window: Window | None, time: str, time_type: Type, in_events: bool = True) -> Within | None:
    """`in_events`: a number of events is offered, too."""
    if window is None:
        return None
    if window.unit == "event":
        return Within(_bounded(_whole(Decimal(window.length), window, "WITHIN", least=1), window), Unit.EVENTS)
    return Within(_bounded(length_in_time(window, "WITHIN", time, time_type, in_events=in_events), window), Unit.TIME)


def length_in_time(window: Window, clause: str, time: str, time_type: Type, up: bool = False, in_events: bool = False) -> int:
    """In the unit of the times. What is finer than that is left out, or rounded `up`, as a least length is: times that differ by whole
    microseconds differ by at most 1500 ns if they differ by at most 1 us, and by at least as much if by at least 2."""
    length = Decimal(window.length)
    is_integer_time = time_type.kind is Kind.INT
    if window.unit is None and not is_integer_time:
        events = f", or WITHIN {window.length} events" if in_events else ""
        raise TypeMismatchError(
            f"{clause} {window.length} has no unit, but the time column `{time}` is a {time_type}",
            hint=f"Write a unit: {clause} {window.length} seconds | minutes | hours | days{events}",
            span=window.span,
        )
    if window.unit is not None and is_integer_time:
        raise TypeMismatchError(
            f"{clause} {window.length} {window.unit}s needs a timestamp, but the time column `{time}` is an integer",
            hint=f"An integer time has its own unit: write the number alone, {clause} {window.length}",
            span=window.span,
        )
    if window.unit is None:
        return _whole(length, window, clause, least=0)
    ticks = _whole(length * NANOS[window.unit], window, clause, least=0) * time_type.ticks
    return -(-ticks // 1000) if up else ticks // 1000


def length_of_what_lasts(window: Window, clause: str, time: str, time_type: Type, up: bool = False) -> int:
    """As `length_in_time`; the longest window is what a program takes for no limit at all."""
    length = length_in_time(window, clause, time, time_type, up)
    if length >= LONGEST:
        said = " ".join(filter(None, (clause, window.length, window.unit and f"{window.unit}s")))
        raise QuerySyntaxError(f"{said} is too long", hint="Times are nearer to 0 than 2^62 units", span=window.span)
    return length


def _whole(length: Decimal, window: Window, clause: str, least: int) -> int:
    if length != length.to_integral_value():
        raise QuerySyntaxError(f"{clause} {window.length} is not a whole number of {_finest(window)}", span=window.span)
    if length < least:
        raise QuerySyntaxError("A window of no events holds no match", hint="The least is WITHIN 1 events", span=window.span)
    return int(length)


def _bounded(length: int, window: Window) -> int:
    if length > LONGEST:
        raise QuerySyntaxError("This window is too long", hint="Leave WITHIN out for no limit", span=window.span)
    return length


def _finest(window: Window) -> str:
    return {None: "time units", "event": "events"}.get(window.unit, "nanoseconds")
