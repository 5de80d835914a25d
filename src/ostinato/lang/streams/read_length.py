"""`3 hours`, `500 events`, `10`: a length of time, or a number of events, as the text writes it."""

from __future__ import annotations

from collections.abc import Container

from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.base.span import Span
from ostinato.expr.reading.cursor import TokenCursor
from ostinato.expr.times.temporal_text import is_calendar_unit
from ostinato.lang.streams.window import Window, window_unit


def read_length(cursor: TokenCursor, what: str, hint: str, behind: Container[str]) -> Window:
    """`behind` are the words, in upper case, that may follow where there is no unit."""
    number = cursor.peek()
    if number.kind != "number" or isinstance(number.value, float):
        cursor.fail(what, hint=hint)
    cursor.next()
    word, unit = cursor.peek(), None
    if word.kind == "name" and word.text.upper() not in behind:
        unit = window_unit(word.text)
        if unit is None:
            raise _no_unit(word.text, word.span)
        cursor.next()
    return Window(number.text, unit, cursor.span_from(number.span))


def _no_unit(word: str, span: Span) -> OstinatoError:
    if is_calendar_unit(word):
        return UnsupportedError(f"A window in {word.lower()} has no fixed length", hint="Write days or weeks", span=span)
    hint = "nanoseconds, microseconds, milliseconds, seconds, minutes, hours, days, weeks or events"
    return QuerySyntaxError(f"`{word}` is not a unit of time", hint=f"Units are {hint}", span=span)
