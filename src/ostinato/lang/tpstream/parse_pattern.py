"""A constraint of PATTERN: `A overlaps;finished by;before[1 MINUTE, 5 MINUTES] B`."""

from __future__ import annotations

from difflib import get_close_matches

from ostinato.algebra.allen import Relation
from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.expr.reading.cursor import TokenCursor
from ostinato.lang.streams.read_length import read_length
from ostinato.lang.streams.window import Window
from ostinato.lang.tpstream.syntax import Bounded, Constraint, Name
from ostinato.lang.tpstream.words import FIRST_OF_TWO, RELATIONS, RESERVED

ALL = "Relations are " + ", ".join(relation.value for relation in Relation)
BOUNDS = "Both bounds are said: before[1 MINUTE, 5 MINUTES], or before[60, 300] for an integer time"
METRIC = "Bounds are for before and after, of the gap, and for overlaps and overlapped by, of the common part"


def constraint(cursor: TokenCursor) -> Constraint:
    first = _situation(cursor)
    allowed = [_bounded(cursor)]
    while cursor.accept_op(";"):
        allowed.append(_bounded(cursor))
    second = _situation(cursor)
    return Constraint(first, tuple(allowed), second, cursor.span_from(first.span))


def _situation(cursor: TokenCursor) -> Name:
    token = cursor.expect_name("the name of a situation", RESERVED)
    return Name(token.value, token.span)


def _bounded(cursor: TokenCursor) -> Bounded:
    start = cursor.peek().span
    relation = _relation(cursor)
    if not cursor.at_op("["):
        return Bounded(relation, span=cursor.span_from(start))
    cursor.next()
    least = _length(cursor)
    cursor.expect_op(",", hint=BOUNDS)
    most = _length(cursor)
    cursor.expect_op("]", hint=BOUNDS)
    span = cursor.span_from(start)
    if not relation.can_be_bounded:
        raise UnsupportedError(f"`{relation.value}` takes no bounds", hint=METRIC, span=span)
    return Bounded(relation, least, most, span)


def _length(cursor: TokenCursor) -> Window:
    return read_length(cursor, "a length of time", BOUNDS, frozenset())


def _relation(cursor: TokenCursor) -> Relation:
    token = cursor.peek()
    if token.kind != "name":
        cursor.fail("a relation", hint=ALL)
    word = _run_together(token.text)
    if word in FIRST_OF_TWO and cursor.peek(1).is_word("BY"):
        cursor.next()
        word += "by"
    if word not in RELATIONS:
        close = get_close_matches(word, RELATIONS, 1)
        hint = f"Did you mean `{RELATIONS[close[0]].value}`?" if close else ALL
        raise QuerySyntaxError(f"`{token.text}` is no relation between two situations", hint=hint, span=token.span)
    cursor.next()
    return RELATIONS[word]


def _run_together(word: str) -> str:
    return word.lower().replace("_", "")
