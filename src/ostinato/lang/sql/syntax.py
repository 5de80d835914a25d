"""The clause as it was written: MATCH_RECOGNIZE parsed, with no name resolved."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from ostinato.base.span import Span
from ostinato.expr.nodes import Expr

NOWHERE = Span(0, 0)


@dataclass(frozen=True)
class Name:
    """An identifier without its quotes. Unquoted variables are folded to upper case when they are parsed."""

    value: str
    quoted: bool = field(default=False, compare=False)
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class OrderItem:
    """`nulls_first` None: not said."""

    column: Name
    descending: bool = False
    nulls_first: bool | None = None


@dataclass(frozen=True)
class MeasureItem:
    expr: Expr
    name: Name


@dataclass(frozen=True)
class DefineItem:
    variable: Name
    condition: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class RowVariable:
    name: Name


@dataclass(frozen=True)
class NoRows:
    """`()`."""


@dataclass(frozen=True)
class InOrder:
    items: tuple[PatternTree, ...]


@dataclass(frozen=True)
class OneOf:
    items: tuple[PatternTree, ...]


@dataclass(frozen=True)
class Repeated:
    item: PatternTree
    at_least: int
    at_most: int | None
    greedy: bool = True


PatternTree = RowVariable | NoRows | InOrder | OneOf | Repeated


@dataclass(frozen=True)
class WithinTree:
    """A length of time, or a plain number in the unit of an integer time column."""

    length: timedelta | int
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class MatchRecognize:
    pattern: PatternTree
    definitions: tuple[DefineItem, ...]
    partition: tuple[Name, ...] = ()
    order: tuple[OrderItem, ...] = ()
    measures: tuple[MeasureItem, ...] = ()
    to_next_row: bool = False
    within: WithinTree | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    pattern_span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class RunningOrFinal(Expr):
    """`RUNNING f(...)` or `FINAL f(...)`."""

    final: bool
    call: Expr
