"""The tree of a NEEL query, close to its text. Chains of comparisons are their adjacent pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from ostinato.base.span import NOWHERE, Span
from ostinato.expr.nodes import Expr
from ostinato.lang.events.syntax import Component, Return
from ostinato.lang.parsed_query import Composite
from ostinato.lang.streams.window import Window


@dataclass(frozen=True)
class Event(Component):
    """`Type var`. Not `named`: the text gives no variable, and the one that it has is shown nowhere."""

    named: bool = True


class Operator(Enum):
    SEQ = "SEQ"
    AND = "AND"
    OR = "OR"


@dataclass(frozen=True)
class Group:
    """`SEQ(m, ..., q)`: the members, and the conditions behind them."""

    operator: Operator
    members: tuple[Member, ...]
    conditions: tuple[Expr, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Negated:
    """`!expr`, `!(expr, q)`."""

    item: Node
    conditions: tuple[Expr, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Node = Event | Group
Member = Event | Group | Negated


def all_events(member: Member) -> tuple[Event, ...]:
    """Negated ones too, in the order of the text."""
    if isinstance(member, Event):
        return (member,)
    if isinstance(member, Negated):
        return all_events(member.item)
    return tuple(event for item in member.members for event in all_events(item))


def positive_events(member: Member) -> tuple[Event, ...]:
    """Those that a match of it holds."""
    if isinstance(member, Event):
        return (member,)
    if isinstance(member, Negated):
        return ()
    return tuple(event for item in member.members for event in positive_events(item))


def may_be_empty(member: Member) -> bool:
    """Whether nothing of it has to be selected: `B* b[]`, `B? b`, and what is made of such members and negations alone."""
    if isinstance(member, Event):
        return member.quantifier.is_optional
    return isinstance(member, Negated) or all(map(may_be_empty, member.members))


@dataclass(frozen=True)
class NeelQuery:
    pattern: Node
    window: Window | None = None
    returns: tuple[Return, ...] = ()
    composite: Composite | None = None
    text: str = field(default="", compare=False, repr=False)
