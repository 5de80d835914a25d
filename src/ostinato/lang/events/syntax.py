"""What the trees of event patterns are made of. Names are as written; nothing is resolved yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from ostinato.base.span import NOWHERE, Span
from ostinato.expr.nodes import Expr


class Quantifier(Enum):
    ONE = ""
    PLUS = "+"
    STAR = "*"
    OPTIONAL = "?"

    @property
    def is_kleene(self) -> bool:
        return self in (Quantifier.PLUS, Quantifier.STAR)

    @property
    def is_optional(self) -> bool:
        return self in (Quantifier.STAR, Quantifier.OPTIONAL)


BOUNDS = {Quantifier.PLUS: (1, None), Quantifier.STAR: (0, None), Quantifier.OPTIONAL: (0, 1)}  # how many events, of all but single ones


@dataclass(frozen=True)
class Component:
    """`Stock+ a[ ]`: an event type, how often, and the variable that holds the selected events."""

    event_type: str
    quantifier: Quantifier
    variable: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


class At(Enum):
    """Which events of a variable a reference speaks of; the value is the index as it is written."""

    PLAIN = ""
    FIRST = "[1]"
    CURRENT = "[i]"
    PREVIOUS = "[i-1]"
    LAST = "[LEN]"
    ALL = "[]"
    BEFORE = "[..i-1]"


@dataclass(frozen=True)
class Element(Expr):
    """`a.price`, `a[i-1].price`, `a.LEN`; without an attribute the events themselves, as in `count(a[])`."""

    variable: str
    at: At
    attribute: str | None


@dataclass(frozen=True)
class Equivalence(Expr):
    """`[symbol, region]`: all selected events agree on these attributes. A conjunct by itself, in SASE+."""

    attributes: tuple[tuple[str, Span], ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equivalence) and self.names == other.names

    def __hash__(self) -> int:
        return hash(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.attributes)


@dataclass(frozen=True)
class Return:
    """One item of the RETURN clause."""

    expr: Expr
    name: str | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)
