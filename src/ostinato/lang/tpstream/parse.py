"""TPStream text to its tree: FROM, DEFINE, PATTERN, WITHIN, RETURN."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.base.query_text import check_text
from ostinato.expr.reading.tokens import tokenize
from ostinato.lang.streams.read_length import read_length
from ostinato.lang.streams.window import Window
from ostinato.lang.tpstream.parse_definition import definition, stream_name
from ostinato.lang.tpstream.parse_expression import TpstreamExpressionParser
from ostinato.lang.tpstream.parse_pattern import constraint
from ostinato.lang.tpstream.syntax import Constraint, Name, Returned, TpstreamQuery
from ostinato.lang.tpstream.words import CLAUSES, RESERVED

ORDER = "The clauses are FROM [PARTITION BY], DEFINE, PATTERN, [WITHIN], [RETURN], in this order, each once"
Item = TypeVar("Item")


def parse(text: str) -> TpstreamQuery:
    """The tree of a text. Errors point into it."""
    try:
        return _query(TpstreamExpressionParser(tokenize(check_text(text))), text)
    except OstinatoError as error:
        error.within(text)
        raise


def _query(cursor: TpstreamExpressionParser, text: str) -> TpstreamQuery:
    cursor.expect_word("FROM", hint="A TPStream query begins with FROM stream")
    streams = _several(cursor, stream_name)
    partition = _partition(cursor) if cursor.accept_word("PARTITION") else ()
    cursor.expect_word("DEFINE", hint="DEFINE A AS speed > 70 AT LEAST 5 SECONDS")
    definitions = _several(cursor, definition)
    cursor.expect_word("PATTERN", hint="Definitions have commas between them; PATTERN A before B follows")
    start = cursor.peek().span
    alone, constraints = _pattern(cursor)
    span = cursor.span_from(start)
    window = _window(cursor) if cursor.accept_word("WITHIN") else None
    returns = _several(cursor, _returned) if cursor.accept_word("RETURN") else ()
    cursor.accept_op(";")
    _expect_end(cursor)
    return TpstreamQuery(streams, definitions, constraints, alone, partition, window, returns, span, text)


def _several(cursor: TpstreamExpressionParser, one: Callable[[TpstreamExpressionParser], Item]) -> tuple[Item, ...]:
    found = [one(cursor)]
    while cursor.accept_op(","):
        found.append(one(cursor))
    return tuple(found)


def _partition(cursor: TpstreamExpressionParser) -> tuple[Name, ...]:
    cursor.expect_word("BY", hint="FROM stream PARTITION BY column")
    return _several(cursor, _column)


def _column(cursor: TpstreamExpressionParser) -> Name:
    """A column, or a field of one that is a struct: `dev.id`."""
    token = cursor.expect_name("a column", RESERVED)
    name = token.value
    while cursor.accept_op("."):
        name = f"{name}.{cursor.expect_name('a field').value}"
    return Name(name, cursor.span_from(token.span))


def _pattern(cursor: TpstreamExpressionParser) -> tuple[Name | None, tuple[Constraint, ...]]:
    """A name alone is a pattern of one situation."""
    token, after = cursor.peek(), cursor.peek(1)
    if token.kind in ("name", "quoted") and (after.kind == "end" or after.is_op(";") or after.is_word("WITHIN", "RETURN")):
        name = cursor.expect_name("a situation", RESERVED)
        return Name(name.value, name.span), ()
    found = [constraint(cursor)]
    while cursor.accept_word("AND"):
        found.append(constraint(cursor))
    if word := cursor.accept_word("OR", "NOT"):
        hint = "Relations of the same two situations are alternatives with semicolons between them: A before;meets B"
        raise UnsupportedError(f"{word.text.upper()} cannot stand in PATTERN", hint=hint, span=word.span)
    return None, tuple(found)


def _window(cursor: TpstreamExpressionParser) -> Window:
    hint = "WITHIN 5 MINUTES, or WITHIN 300 for an integer time"
    return read_length(cursor, "the length of the window", hint, CLAUSES)


def _returned(cursor: TpstreamExpressionParser) -> Returned:
    start = cursor.peek().span
    expr = cursor.expression()
    name = cursor.expect_name("a name for the value", RESERVED).value if cursor.accept_word("AS") else None
    return Returned(expr, name, cursor.span_from(start))


def _expect_end(cursor: TpstreamExpressionParser) -> None:
    token = cursor.peek()
    if token.is_word(*CLAUSES):
        raise QuerySyntaxError(f"{token.text.upper()} is out of place or repeated", hint=ORDER, span=token.span)
    cursor.expect_end(hint=ORDER)
