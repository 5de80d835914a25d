"""NEEL text to its tree: PATTERN, WITHIN, RETURN; several queries in one text to a tree each."""

from __future__ import annotations

from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.base.query_text import check_text
from ostinato.expr.reading.tokens import tokenize
from ostinato.lang.events.parse_clauses import return_clause, window_clause
from ostinato.lang.neel.parse_expression import NeelExpressionParser
from ostinato.lang.neel.parse_pattern import parse_pattern
from ostinato.lang.neel.syntax import NeelQuery

ELSEWHERE = {
    "WHERE": "Conditions stand in the pattern, behind the members that they are about: SEQ(A a, B b, a.x = b.x)",
    "OUTPUT": "Say it beside the text: output='all' or output='count'",
}


def parse(text: str) -> NeelQuery:
    """The tree of a text that is one query. Errors point into `text`."""
    first, *more = parse_queries(text)
    if more:
        raise UnsupportedError("One query is expected here, and the text has several", hint="Run the text as a whole").within(text)
    return first


def parse_queries(text: str) -> tuple[NeelQuery, ...]:
    """The trees of the queries in a text, which semicolons separate."""
    try:
        cursor = NeelExpressionParser(tokenize(check_text(text)))
        found = [_query(cursor, text)]
        while not cursor.at_end():
            found.append(_query(cursor, text))
        return tuple(found)
    except OstinatoError as error:
        error.within(text)
        raise


def _query(cursor: NeelExpressionParser, text: str) -> NeelQuery:
    cursor.expect_word("PATTERN", hint="A NEEL query begins with PATTERN SEQ(...), AND(...) or OR(...)")
    pattern = parse_pattern(cursor)
    window = window_clause(cursor) if cursor.accept_word("WITHIN") else None
    composite, returns = return_clause(cursor) if cursor.accept_word("RETURN") else (None, ())
    if not cursor.accept_op(";"):
        _expect_end(cursor)
    return NeelQuery(pattern, window, returns, composite, text)


def _expect_end(cursor: NeelExpressionParser) -> None:
    token = cursor.peek()
    if token.is_word(*ELSEWHERE):
        word = token.text.upper()
        raise UnsupportedError(f"{word} is no clause of NEEL", hint=ELSEWHERE[word], span=token.span)
    if token.is_word("PATTERN", "WITHIN", "RETURN"):
        hint = "The order is PATTERN, WITHIN, RETURN, each once; a semicolon ends a query"
        raise QuerySyntaxError(f"{token.text.upper()} is out of place or repeated", hint=hint, span=token.span)
    cursor.expect_end(hint="The clauses are PATTERN, WITHIN and RETURN")
