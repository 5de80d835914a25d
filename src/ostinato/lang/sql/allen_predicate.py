"""ALLEN(a, 'overlaps;meets', b): how two intervals lie to each other, as comparisons that any SQL reads."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from ostinato.algebra.allen import Compare, Side
from ostinato.algebra.situations import END, START
from ostinato.base.errors import OstinatoError, QuerySyntaxError
from ostinato.base.span import Span
from ostinato.expr.reading.cursor import TokenCursor
from ostinato.expr.reading.tokens import tokenize
from ostinato.expr.times.temporal_text import NANOS
from ostinato.lang.situations.relations import Bounded, relations
from ostinato.lang.sql.statement import Statement
from ostinato.lang.streams.window import Window

NAME = "ALLEN"
FORM = "ALLEN(a, 'overlaps;meets', b)"
SIGNS = {Compare.LESS: "<", Compare.EQUAL: "="}


@dataclass(frozen=True)
class Predicate:
    """`text` takes the place of what stands at `span`."""

    span: Span
    text: str


def allen_predicates(statement: Statement) -> tuple[Predicate, ...]:
    words = statement.words
    places = [at for at in range(len(words)) if words[at].is_name(NAME) and statement.is_symbol(at + 1, "(")]
    return tuple(_predicate(statement, at) for at in places)


def _predicate(statement: Statement, at: int) -> Predicate:
    words, end = statement.words, statement.closing(at + 1)
    span = words[at].span.to(words[end].span)
    parts = _arguments(statement, at + 2, end)
    if len(parts) != 3 or parts[1][1] - parts[1][0] != 1 or words[parts[1][0]].kind != "string":
        raise QuerySyntaxError(f"{NAME} takes an interval, relations as a string, and another interval", hint=FORM, span=span)
    first, second = _interval(statement, *parts[0]), _interval(statement, *parts[2])
    sides = dict(zip(Side, (*first, *second), strict=True))
    told = words[parts[1][0]]
    allowed = _relations(told.value, Span(told.span.start + 1, told.span.end - 1))
    return Predicate(span, "(" + " OR ".join(_holds(one, sides) for one in allowed) + ")")


def _arguments(statement: Statement, begin: int, end: int) -> list[tuple[int, int]]:
    """The words of each, between commas outside of parentheses."""
    found, first, at = [], begin, begin
    while at < end:
        if statement.is_symbol(at, "("):
            at = statement.closing(at)
        elif statement.is_symbol(at, ","):
            found.append((first, at))
            first = at + 1
        at += 1
    return [*found, (first, end)]


def _interval(statement: Statement, begin: int, end: int) -> tuple[str, str]:
    """Its start and its end: `(s.begun, s.ended)`, or those of a table by its name."""
    words = statement.words
    if begin == end:
        raise QuerySyntaxError(f"{NAME} lacks an interval", hint=FORM, span=words[begin].span)
    text = statement.text[words[begin].span.start : words[end - 1].span.end]
    if statement.is_symbol(begin, "(") and statement.closing(begin) == end - 1:
        sides = _arguments(statement, begin + 1, end - 1)
        if len(sides) == 2 and all(first < last for first, last in sides):
            start, stop = (statement.text[words[first].span.start : words[last - 1].span.end] for first, last in sides)
            return f"({start})", f"({stop})"
    elif all(word.is_identifier or word.value == "." for word in words[begin:end]):
        return f"{text}.{START}", f"{text}.{END}"
    raise QuerySyntaxError(
        "This is no interval",
        hint=f"The name of a table with the columns {START} and {END}, or both times: (a.begun, a.ended)",
        span=words[begin].span.to(words[end - 1].span),
    )


def _relations(text: str, span: Span) -> tuple[Bounded, ...]:
    """Errors point to their place in the statement."""
    try:
        cursor = TokenCursor(tokenize(text, span.start))
        found = relations(cursor)
        cursor.expect_end()
    except OstinatoError as error:
        if error.span is None:
            error.span = span
        raise
    return found


def _holds(one: Bounded, sides: dict[Side, str]) -> str:
    tests = [f"{sides[left]} {SIGNS[compare]} {sides[right]}" for left, compare, right in one.relation.comparisons]
    if one.least is not None and one.most is not None:
        begin, end = (sides[side] for side in one.relation.distance)
        tests += [f"{end} >= {begin} + {_length(one.least)}", f"{end} <= {begin} + {_length(one.most)}"]
    return tests[0] if len(tests) == 1 else "(" + " AND ".join(tests) + ")"


def _length(window: Window) -> str:
    """As DuckDB and Spark read it; a number alone where times are integers."""
    if window.unit is None:
        return window.length
    if window.unit == "event":
        raise QuerySyntaxError("Bounds are in time", hint="before[1 MINUTE, 5 MINUTES]", span=window.span)
    micros = Decimal(window.length) * NANOS[window.unit] / 1000
    if micros != micros.to_integral_value():
        raise QuerySyntaxError("Bounds in SQL are whole microseconds", hint="before[1 MINUTE, 5 MINUTES]", span=window.span)
    return f"INTERVAL '{int(micros)}' MICROSECOND"
