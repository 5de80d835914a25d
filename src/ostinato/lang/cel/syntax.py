"""The tree of a CEL query, close to its text. Names are as written; nothing is resolved yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ostinato.base.span import NOWHERE, Span
from ostinato.expr.nodes import Expr
from ostinato.lang.parsed_query import Composite


@dataclass(frozen=True)
class Attribute(Expr):
    """`price`, `$1.price`: `owner` is the decorator, "" where there is none."""

    owner: str
    name: str


@dataclass(frozen=True)
class DurationWord(Expr):
    """`DUR`, as it is written."""

    written: str


@dataclass(frozen=True)
class Item:
    """One item of SELECT, or an aggregate of FOLD: `expr AS name`. Without `expr` it is `*`."""

    expr: Expr | None
    name: str | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class StreamName:
    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Select:
    """`SELECT items FROM item PUBLISH published`. `items` None: all attributes, as they are."""

    items: tuple[Item, ...] | None
    item: Node
    published: Composite | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Filter:
    condition: Expr
    item: Node
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Next:
    """`span` is that of the word and its braces."""

    first: Node
    second: Node
    condition: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Fold:
    first: Node
    second: Node
    relevant: Expr
    step: Expr
    aggregates: tuple[Item, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Node = StreamName | Select | Filter | Next | Fold


@dataclass(frozen=True)
class CelQuery:
    """`hidden`: the text gives it no name; what it publishes is an operand of another one."""

    body: Node
    published: Composite | None = None
    hidden: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    text: str = field(default="", compare=False, repr=False)


def parts_of(node: Node) -> tuple[Node, ...]:
    """What it is made of, from the left."""
    if isinstance(node, StreamName):
        return ()
    return (node.first, node.second) if isinstance(node, Next | Fold) else (node.item,)


def walk(node: Node) -> Iterator[Node]:
    yield node
    for part in parts_of(node):
        yield from walk(part)


def stream_names(node: Node) -> tuple[StreamName, ...]:
    """Those that it reads, in the order of the text."""
    return tuple(part for part in walk(node) if isinstance(part, StreamName))
