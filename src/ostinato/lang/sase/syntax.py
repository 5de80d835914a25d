"""The tree of a SASE+ query, close to its text. Names are as written; nothing is resolved yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from ostinato.base.span import NOWHERE, Span
from ostinato.expr.nodes import Expr
from ostinato.lang.parsed_query import Composite
from ostinato.lang.streams.window import Window


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


@dataclass(frozen=True)
class Component:
    """`Stock+ a[ ]`: an event type, how often, and the variable that holds the selected events."""

    event_type: str
    quantifier: Quantifier
    variable: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Negation:
    """`~(T x)` or `~(SEQ(T x, U y))`: no such events between the neighbours."""

    components: tuple[Component, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Alternatives:
    """`(B b | SEQ(C c, D d))`: exactly one branch, itself a sequence, is matched. Branches hold no negations."""

    branches: tuple[tuple[Item, ...], ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Item = Component | Negation | Alternatives


def all_components(items: tuple[Item, ...]) -> tuple[Component, ...]:
    """Positive and negated ones, in the order of the text."""
    return tuple(component for item in items for component in components_of(item))


def components_of(item: Item) -> tuple[Component, ...]:
    if isinstance(item, Component):
        return (item,)
    if isinstance(item, Negation):
        return item.components
    return tuple(component for branch in item.branches for component in all_components(branch))


def may_be_empty(items: tuple[Item, ...]) -> bool:
    """Whether these can be matched without selecting an event. Alternatives cannot: each selects one at least."""
    return all(isinstance(item, Negation) or (isinstance(item, Component) and item.quantifier.is_optional) for item in items)


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
    """`[symbol, region]`: all selected events agree on these attributes. A conjunct by itself."""

    attributes: tuple[tuple[str, Span], ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equivalence) and self.names == other.names

    def __hash__(self) -> int:
        return hash(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.attributes)


@dataclass(frozen=True)
class Strategy:
    """`skip_till_next_match(a, b[ ])`."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Return:
    """One item of the RETURN clause."""

    expr: Expr
    name: str | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class OutputClause:
    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class SaseQuery:
    """`conjuncts` are the top-level conjuncts of WHERE in order; `strategy` None where the text names none."""

    items: tuple[Item, ...]
    strategy: Strategy | None = None
    conjuncts: tuple[Expr, ...] = ()
    window: Window | None = None
    returns: tuple[Return, ...] = ()
    composite: Composite | None = None
    output: OutputClause | None = None
    text: str = field(default="", compare=False, repr=False)

    @property
    def components(self) -> tuple[Component, ...]:
        """The positive components, alternatives included, in pattern order."""
        return all_components(tuple(item for item in self.items if not isinstance(item, Negation)))
