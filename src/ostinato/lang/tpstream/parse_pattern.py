"""A constraint of PATTERN: `A overlaps;finished by;before[1 MINUTE, 5 MINUTES] B`."""

from __future__ import annotations

from ostinato.expr.reading.cursor import TokenCursor
from ostinato.lang.situations.relations import relations
from ostinato.lang.situations.syntax import Name
from ostinato.lang.situations.words import RESERVED
from ostinato.lang.tpstream.syntax import Constraint


def constraint(cursor: TokenCursor) -> Constraint:
    first = _situation(cursor)
    allowed = relations(cursor)
    second = _situation(cursor)
    return Constraint(first, allowed, second, cursor.span_from(first.span))


def _situation(cursor: TokenCursor) -> Name:
    token = cursor.expect_name("the name of a situation", RESERVED)
    return Name(token.value, token.span)
