"""Relations between two situations as they are written: `overlaps;finished by;before[1 MINUTE, 5 MINUTES]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from ostinato.algebra.allen import Relation
from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.base.span import NOWHERE, Span
from ostinato.expr.reading.cursor import TokenCursor
from ostinato.expr.reading.tokens import Token
from ostinato.lang.streams.read_length import read_length
from ostinato.lang.streams.window import Window

# `finished by`, `finished_by`, `finishedBy`: the words of a relation, run together
RELATIONS = {relation.value.replace(" ", ""): relation for relation in Relation}
# ... and the first of two, where a space is between them
FIRST_OF_TWO = frozenset(relation.value.partition(" ")[0] for relation in Relation if " " in relation.value)
ALL = "Relations are " + ", ".join(relation.value for relation in Relation)
BOUNDS = "Both bounds are said: before[1 MINUTE, 5 MINUTES], or before[60, 300] for an integer time"
METRIC = "Bounds are for before and after, of the gap, and for overlaps and overlapped by, of the common part"


@dataclass(frozen=True)
class Bounded:
    """`before`, `overlaps[1 MINUTE, 5 MINUTES]`."""

    relation: Relation
    least: Window | None = None
    most: Window | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


def relations(cursor: TokenCursor) -> tuple[Bounded, ...]:
    """Those that are allowed, with semicolons between them."""
    allowed = [_bounded(cursor)]
    while cursor.accept_op(";"):
        allowed.append(_bounded(cursor))
    return tuple(allowed)


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


def stands_between(tokens: Sequence[Token], at: int) -> bool:
    """Whether the semicolon at a place has relations on both sides."""
    before, behind = tokens[at - 1], tokens[at + 1]
    return behind.kind == "name" and _begins_relation(behind) and (before.is_op("]") or _ends_relation(before))


def _begins_relation(token: Token) -> bool:
    word = _run_together(token.text)
    return word in RELATIONS or word in FIRST_OF_TWO


def _ends_relation(token: Token) -> bool:
    return token.is_word("BY") or (token.kind == "name" and _run_together(token.text) in RELATIONS)
