"""The clause as it was written: MATCH_RECOGNIZE parsed, with no name resolved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from ostinato.algebra.policies import RowsPerMatch
from ostinato.base.span import NOWHERE, Span
from ostinato.expr.nodes import Expr
from ostinato.expr.times.nanoseconds import Duration


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


@dataclass(frozen=True)
class Edge:
    """`^` or `$`: the start or the end of the partition."""

    start: bool
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Hidden:
    """`{- item -}`."""

    item: PatternTree
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Permuted:
    """`PERMUTE(item, item ...)`."""

    items: tuple[PatternTree, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


PatternTree = RowVariable | NoRows | Edge | Hidden | Permuted | InOrder | OneOf | Repeated


@dataclass(frozen=True)
class SkipTree:
    """`to` None: past the last row, or to the next row; else to the first or last row of that variable."""

    to_next_row: bool = False
    to: Name | None = None
    to_first: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class RowsTree:
    """What stands before PER MATCH, and what follows it. `timeouts`: SHOW TIMEOUT MATCHES."""

    rows: RowsPerMatch = RowsPerMatch.ONE
    timeouts: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class SubsetItem:
    """`name = (member, member ...)`."""

    name: Name
    members: tuple[Name, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class WithinTree:
    """A length of time, or a plain number in the unit of an integer time column."""

    length: timedelta | Duration | int
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class MatchRecognize:
    pattern: PatternTree
    definitions: tuple[DefineItem, ...]
    partition: tuple[Name, ...] = ()
    order: tuple[OrderItem, ...] = ()
    measures: tuple[MeasureItem, ...] = ()
    rows: RowsTree = RowsTree()
    skip: SkipTree = SkipTree()
    within: WithinTree | None = None
    subsets: tuple[SubsetItem, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    pattern_span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class RunningOrFinal(Expr):
    """`RUNNING f(...)` or `FINAL f(...)`."""

    final: bool
    call: Expr


def hidden_parts(tree: PatternTree) -> Iterator[Hidden]:
    """All exclusions in a pattern, outer ones first."""
    if isinstance(tree, Hidden):
        yield tree
    for item in parts_of(tree):
        yield from hidden_parts(item)


def parts_of(tree: PatternTree) -> tuple[PatternTree, ...]:
    if isinstance(tree, InOrder | OneOf | Permuted):
        return tree.items
    return (tree.item,) if isinstance(tree, Repeated | Hidden) else ()
