"""The tree of a SASE+ query, close to its text. Names are as written; nothing is resolved yet."""

from __future__ import annotations

from dataclasses import dataclass, field

from ostinato.base.span import NOWHERE, Span
from ostinato.expr.nodes import Expr
from ostinato.lang.events.syntax import Component, Return
from ostinato.lang.parsed_query import Composite
from ostinato.lang.streams.window import Window


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


@dataclass(frozen=True)
class Strategy:
    """`skip_till_next_match(a, b[ ])`."""

    name: str
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
