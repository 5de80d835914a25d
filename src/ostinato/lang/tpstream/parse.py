"""TPStream text to its tree: FROM, DEFINE, PATTERN, WITHIN, RETURN."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.base.query_text import check_text
from ostinato.expr.reading.tokens import tokenize
from ostinato.lang.parsed_query import Composite
from ostinato.lang.situations.parse_definition import definition, stream_name
from ostinato.lang.situations.parse_expression import SituationParser
from ostinato.lang.situations.syntax import Name, Returned
from ostinato.lang.situations.words import CLAUSES, RESERVED
from ostinato.lang.streams.read_length import read_length
from ostinato.lang.streams.window import Window
from ostinato.lang.tpstream.parse_pattern import constraint
from ostinato.lang.tpstream.syntax import Constraint, TpstreamQuery

ORDER = "The clauses are FROM [PARTITION BY], DEFINE, [PATTERN], [WITHIN], [RETURN], [PUBLISH], in this order, each once"
ALTERNATIVES = "Relations of the same two situations are alternatives with semicolons between them: A before;meets B"
Item = TypeVar("Item")


def parse(text: str) -> TpstreamQuery:
    """The tree of a text with one query. Errors point into it."""
    found = parse_queries(text)
    if len(found) > 1:
        raise QuerySyntaxError("The text has several queries", hint="Run one at a time", span=found[1].span).within(text)
    return found[0]


def parse_queries(text: str) -> tuple[TpstreamQuery, ...]:
    """The trees of the queries of a text, which semicolons separate. Errors point into it."""
    try:
        cursor = SituationParser(tokenize(check_text(text)))
        found = [_query(cursor, text)]
        while cursor.accept_op(";") and not cursor.at_end():
            found.append(_query(cursor, text))
        _expect_end(cursor)
        return tuple(found)
    except OstinatoError as error:
        error.within(text)
        raise


def _query(cursor: SituationParser, text: str) -> TpstreamQuery:
    cursor.expect_word("FROM", hint="A TPStream query begins with FROM stream")
    streams = _several(cursor, stream_name)
    partition = _partition(cursor) if cursor.accept_word("PARTITION") else ()
    if cursor.at_word("WHERE"):
        hint = "What an event has to satisfy is part of a definition: DEFINE A AS speed > 70 AND wet"
        raise UnsupportedError("WHERE is no clause of TPStream", hint=hint, span=cursor.peek().span)
    cursor.expect_word("DEFINE", hint="DEFINE A AS speed > 70 AT LEAST 5 SECONDS")
    start = cursor.peek().span
    definitions = _several(cursor, definition)
    span = cursor.span_from(start)
    if _has_pattern(cursor):
        start = cursor.peek().span
        alone, constraints = _pattern(cursor)
        span = cursor.span_from(start)
    else:
        alone, constraints = None, ()
    window = _window(cursor) if cursor.accept_word("WITHIN") else None
    returns = _several(cursor, _returned) if cursor.accept_word("RETURN") else ()
    published = _published(cursor) if cursor.accept_word("PUBLISH") else None
    return TpstreamQuery(streams, definitions, constraints, alone, partition, window, returns, published, span, text)


def _has_pattern(cursor: SituationParser) -> bool:
    """Without one, definitions end where another clause begins, or the query ends."""
    if cursor.at_end() or cursor.at_op(";") or cursor.at_word("WITHIN", "RETURN", "PUBLISH"):
        return False
    cursor.expect_word("PATTERN", hint="Definitions have commas between them; PATTERN A before B follows")
    return True


def _published(cursor: SituationParser) -> Composite:
    name = cursor.expect_name("a name for the stream", RESERVED)
    return Composite(name.value, name.span)


def _several(cursor: SituationParser, one: Callable[[SituationParser], Item]) -> tuple[Item, ...]:
    found = [one(cursor)]
    while cursor.accept_op(","):
        found.append(one(cursor))
    return tuple(found)


def _partition(cursor: SituationParser) -> tuple[Name, ...]:
    cursor.expect_word("BY", hint="FROM stream PARTITION BY column")
    return _several(cursor, _column)


def _column(cursor: SituationParser) -> Name:
    """A column, or a field of one that is a struct: `dev.id`."""
    token = cursor.expect_name("a column", RESERVED)
    name = token.value
    while cursor.accept_op("."):
        name = f"{name}.{cursor.expect_name('a field').value}"
    return Name(name, cursor.span_from(token.span))


def _pattern(cursor: SituationParser) -> tuple[Name | None, tuple[Constraint, ...]]:
    """A name alone is a pattern of one situation."""
    token, after = cursor.peek(), cursor.peek(1)
    if token.kind in ("name", "quoted") and (after.kind == "end" or after.is_op(";") or after.is_word("WITHIN", "RETURN", "PUBLISH")):
        name = cursor.expect_name("a situation", RESERVED)
        return Name(name.value, name.span), ()
    if word := cursor.accept_word("NOT"):
        raise UnsupportedError("NOT cannot stand in PATTERN", hint=ALTERNATIVES, span=word.span)
    if cursor.at_op("("):
        raise QuerySyntaxError("Constraints stand without parentheses", hint="PATTERN A before B AND B meets C", span=cursor.peek().span)
    found = [constraint(cursor)]
    while cursor.accept_word("AND"):
        found.append(constraint(cursor))
    if word := cursor.accept_word("OR", "NOT"):
        raise UnsupportedError(f"{word.text.upper()} cannot stand in PATTERN", hint=ALTERNATIVES, span=word.span)
    if cursor.at_op(","):
        raise QuerySyntaxError("Constraints have AND between them", hint="PATTERN A before B AND B meets C", span=cursor.peek().span)
    return None, tuple(found)


def _window(cursor: SituationParser) -> Window:
    hint = "WITHIN 5 MINUTES, or WITHIN 300 for an integer time"
    return read_length(cursor, "the length of the window", hint, CLAUSES)


def _returned(cursor: SituationParser) -> Returned:
    start = cursor.peek().span
    expr = cursor.expression()
    name = cursor.expect_name("a name for the value", RESERVED).value if cursor.accept_word("AS") else None
    return Returned(expr, name, cursor.span_from(start))


def _expect_end(cursor: SituationParser) -> None:
    token = cursor.peek()
    if token.is_word(*CLAUSES):
        raise QuerySyntaxError(f"{token.text.upper()} is out of place or repeated", hint=ORDER, span=token.span)
    cursor.expect_end(hint=ORDER)
