"""What filters say about how long events may last: nothing that is begun needs to wait for longer."""

from __future__ import annotations

from datetime import timedelta

from ostinato.algebra.event_streams import DURATION
from ostinato.expr.nodes import Call, Expr, Field, Literal, type_of
from ostinato.expr.types import Kind, Type
from ostinato.expr.typing.physical import to_physical

UPPER = {"lt": 1, "le": 0}
TURNED = {"gt": "lt", "ge": "le"}


def longest(condition: Expr, time: Type) -> int | None:
    """The most that a condition lets events last, in the unit of times; None if it says nothing of that."""
    if not isinstance(condition, Call) or len(condition.args) != 2:
        return None
    left, right = condition.args
    relation = condition.name
    if isinstance(right, Field):
        left, right, relation = right, left, TURNED.get(relation, "")
    if relation not in UPPER or not (isinstance(left, Field) and left.name == DURATION and isinstance(right, Literal)):
        return None
    length = _units(right, time)
    return None if length is None else max(length - UPPER[relation], 0)


def _units(length: Literal, time: Type) -> int | None:
    own = type_of(length)
    if length.value is None:
        return None
    if own.kind is Kind.INT and time.kind is Kind.INT:
        return int(length.value)
    if own.kind is Kind.INTERVAL and time.kind is Kind.TIMESTAMP and time.ticks >= own.ticks:
        return int(to_physical(length.value, own)) * (time.ticks // own.ticks)
    return None


def no_time(type_: Type) -> Literal:
    """How long an event lasts that does not."""
    return Literal(timedelta(0) if type_.kind is Kind.INTERVAL else 0, type=type_)
