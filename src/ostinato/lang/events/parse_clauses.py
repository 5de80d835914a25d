"""The clauses WITHIN and RETURN, and conditions as their conjuncts."""

from __future__ import annotations

from collections.abc import Iterable

from ostinato.base.span import NOWHERE
from ostinato.expr.nodes import AGGREGATES, Call, Expr
from ostinato.expr.reading.cursor import TokenCursor
from ostinato.expr.typing.functions import AMBIGUOUS, CONDITIONALS, SPELLINGS
from ostinato.lang.events.parse_expression import EventExpressionParser
from ostinato.lang.events.syntax import Return
from ostinato.lang.events.words import CLAUSES
from ostinato.lang.parsed_query import Composite
from ostinato.lang.streams.read_length import read_length
from ostinato.lang.streams.window import Window

KEYWORD_FORMS = ("cast", "extract", "exists", "date", "timestamp", "timestamptz", "interval")
# A name and parentheses are a call, not an event, where the name is one of these.
CALLED = frozenset((*SPELLINGS, *CONDITIONALS, *AMBIGUOUS, *AGGREGATES, *KEYWORD_FORMS))


def window_clause(cursor: EventExpressionParser) -> Window:
    """What follows WITHIN."""
    hint = "WITHIN 3 hours, WITHIN 500 events, or WITHIN 10 for an integer time"
    return read_length(cursor, "the length of the window", hint, CLAUSES)


def return_clause(cursor: EventExpressionParser, after: Iterable[str] = ()) -> tuple[Composite | None, tuple[Return, ...]]:
    if not _at_composite(cursor, after):
        return None, _returns(cursor)
    name = cursor.next()
    cursor.expect_op("(")
    items = _returns(cursor)
    cursor.expect_op(")", hint="The attributes of an event stand between commas: RETURN Name(a.x, b.y AS z)")
    return Composite(name.value, name.span), items


def _at_composite(cursor: EventExpressionParser, words: Iterable[str]) -> bool:
    """`Name(...)` as all that is returned, and no function: a value of a function would need a name of its own."""
    name = cursor.peek()
    if name.kind not in ("name", "quoted") or not cursor.peek(1).is_op("("):
        return False
    if name.kind == "name" and (name.text.lower() in CALLED or name.text.upper() in cursor.reserved):
        return False
    after = cursor.peek(behind_call(cursor))
    return after.kind == "end" or after.is_op(";") or after.is_word("OUTPUT", *words)


def _returns(cursor: EventExpressionParser) -> tuple[Return, ...]:
    items = [_return(cursor)]
    while cursor.accept_op(","):
        items.append(_return(cursor))
    return tuple(items)


def _return(cursor: EventExpressionParser) -> Return:
    expr = cursor.expression()
    name = cursor.expect_name("a name for the attribute", cursor.reserved).value if cursor.accept_word("AS") else None
    return Return(expr, name, expr.span or NOWHERE)


def behind_call(cursor: TokenCursor) -> int:
    """How far ahead the token is that follows the call which begins here."""
    depth, ahead = 0, 1
    while (token := cursor.peek(ahead)).kind != "end":
        depth += token.is_op("(") - token.is_op(")")
        ahead += 1
        if depth == 0:
            break
    return ahead


def conjuncts_of(expr: Expr) -> tuple[Expr, ...]:
    """The conjuncts of a condition; BETWEEN is two of them."""
    if isinstance(expr, Call) and expr.name == "and":
        return tuple(part for arg in expr.args for part in conjuncts_of(arg))
    return (expr,)
