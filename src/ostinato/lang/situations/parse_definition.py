"""What follows DEFINE: a name, the stream, the condition and how long it lasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ostinato.base.errors import QuerySyntaxError
from ostinato.expr.nodes import Call, Expr, Literal
from ostinato.expr.reading.parse import COMPARISONS
from ostinato.expr.reading.tokens import Token
from ostinato.lang.situations.parse_expression import SituationParser
from ostinato.lang.situations.syntax import Definition, Lasting, Name, StreamName
from ostinato.lang.situations.words import CLAUSES, RESERVED
from ostinato.lang.streams.read_length import read_length
from ostinato.lang.streams.window import Window

DURATIONS = "AT LEAST 5 SECONDS, AT MOST 1 MINUTE or BETWEEN 5 SECONDS AND 1 MINUTE; for an integer time a number alone"
INTERVALS = "Rows that last are named by the columns of their starts and ends: jobs INTERVAL (begun, ended)"
TESTS = ("distinct", "in", "like", "is_null", "is_not_null", "is_true", "is_false")
CONDITIONS = frozenset((*COMPARISONS.values(), *TESTS, "and", "or", "not"))
BEHIND_DEFINITIONS = ("MEASURES", "PATTERN", "WITHIN", "RETURN", "PUBLISH")
BEHIND = frozenset((*CLAUSES, "AND", "AT", "BETWEEN"))


def stream_name(cursor: SituationParser) -> StreamName:
    token = cursor.expect_name("a stream", RESERVED)
    if cursor.at_op("."):
        hint = 'Streams have plain names; quote one that has a dot in it: "a.b"'
        raise QuerySyntaxError(f"`{token.text}.` begins no name of a stream", hint=hint, span=cursor.span_from(token.span))
    if not cursor.accept_word("INTERVAL"):
        return StreamName(token.value, span=token.span)
    cursor.expect_op("(", hint=INTERVALS)
    start = cursor.expect_name("the column of starts")
    cursor.expect_op(",", hint=INTERVALS)
    end = cursor.expect_name("the column of ends")
    cursor.expect_op(")", hint=INTERVALS)
    return StreamName(token.value, Name(start.value, start.span), Name(end.value, end.span), cursor.span_from(token.span))


def definition(cursor: SituationParser) -> Definition:
    token = cursor.expect_name("the name of a situation", RESERVED)
    stream = stream_name(cursor) if cursor.accept_word("FROM") else None
    condition, compared = _condition(cursor) if cursor.accept_word("AS") else (None, None)
    lasting = _lasting(cursor)
    if lasting is not None and cursor.at_word("AT", "BETWEEN"):
        raise QuerySyntaxError("A situation has one duration", hint="For both bounds write BETWEEN ... AND ...", span=cursor.peek().span)
    return Definition(token.value, stream, condition, lasting, compared, cursor.span_from(token.span))


def _lasting(cursor: SituationParser) -> Lasting | None:
    start = cursor.peek().span
    if cursor.accept_word("AT"):
        word = cursor.expect_word("LEAST", "MOST", hint=DURATIONS)
        length = _length(cursor)
        least = word.is_word("LEAST")
        return Lasting(length if least else None, None if least else length, cursor.span_from(start))
    if cursor.accept_word("BETWEEN"):
        least_length = _length(cursor)
        cursor.expect_word("AND", hint=DURATIONS)
        return Lasting(least_length, _length(cursor), cursor.span_from(start))
    return None


def _length(cursor: SituationParser) -> Window:
    return read_length(cursor, "a duration", DURATIONS, BEHIND)


def _condition(cursor: SituationParser) -> tuple[Expr, Expr | None]:
    """The condition; and, where a BETWEEN behind it could be part of it, both of them as one condition."""
    end = _end(cursor)
    cut = _last_between(cursor.tokens[cursor.position : end])
    if cut is None:
        return cursor.expression(), None
    begin = cursor.position
    cursor.position += cut
    condition = _parsed(cursor.tokens[begin : cursor.position], cursor.peek())
    lengths = cursor.tokens[cursor.position : end]
    if any(token.kind == "name" and not token.is_word("BETWEEN", "AND") for token in lengths):
        return condition, None
    compared = _parsed(cursor.tokens[begin:end], cursor.tokens[end])
    return condition, None if is_condition(_before_between(compared)) else compared


def _before_between(compared: Expr) -> Expr:
    """What stands before the BETWEEN that ends it, which is two comparisons of the same thing."""
    while isinstance(compared, Call):
        low, high = compared.args[0], compared.args[-1]
        if compared.name == "and" and isinstance(low, Call) and isinstance(high, Call) and low.args[0] is high.args[0]:
            return low.args[0]
        compared = high
    raise AssertionError("a condition ends with BETWEEN")


def is_condition(expr: Expr) -> bool:
    """Whether it can only be true or false, whatever the types of its columns are."""
    return isinstance(expr.value, bool) if isinstance(expr, Literal) else isinstance(expr, Call) and expr.name in CONDITIONS


def _end(cursor: SituationParser) -> int:
    """Where the definition ends: at a comma outside of parentheses, or at the next clause."""
    depth, at = 0, cursor.position
    while (token := cursor.tokens[at]).kind != "end" and not token.is_op(";") and not token.is_word(*BEHIND_DEFINITIONS):
        depth += token.is_op("(", "[") - token.is_op(")", "]")
        if depth == 0 and token.is_op(","):
            break
        at += 1
    return at


def _last_between(tokens: Sequence[Token]) -> int | None:
    """Where `BETWEEN 4 SECONDS AND 30 SECONDS` or `BETWEEN 4 AND 30` is all that is left. NOT BETWEEN is a comparison."""
    at = len(tokens)
    for word in ("AND", "BETWEEN"):
        at -= 2 if at and tokens[at - 1].kind == "name" else 1  # with a unit
        if at < 1 or tokens[at].kind != "number" or not tokens[at - 1].is_word(word):
            return None
        at -= 1
    return None if at == 0 or tokens[at - 1].is_word("NOT") else at


def _parsed(tokens: Sequence[Token], behind: Token) -> Expr:
    inner = SituationParser([*tokens, replace(behind, kind="end")])
    found = inner.expression()
    inner.expect_end(hint="A condition, then its duration: " + DURATIONS)
    return found
