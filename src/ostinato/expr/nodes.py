"""Scalar expressions of every language, as frozen trees.

A row expression speaks of one row: `Field`, `Literal`, `Call`, `Cast`, `Case`. An expression over a match reaches rows only through
`Nav` (one row) and `Aggregate` (many), whose `body` is a row expression. The current row, in a condition, is the last row of the
match so far: `Nav(None, LAST, 0, 0, Field("price"))`, because a row is provisionally mapped before its condition is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any

from ostinato.base.span import Span
from ostinato.expr.types import Type
from ostinato.expr.user_function import UserFunction


@dataclass(frozen=True, kw_only=True)
class Expr:
    """`type` is None until `expr.typing.infer` has filled it; `span` is the place in the query text. Neither takes part in equality."""

    span: Span | None = field(default=None, compare=False, repr=False)
    type: Type | None = field(default=None, compare=False, repr=False)

    def children(self) -> tuple[Expr, ...]:
        found: list[Expr] = []
        for name in _parts(self):
            _collect(getattr(self, name), found)
        return tuple(found)

    def walk(self) -> Iterator[Expr]:
        yield self
        for child in self.children():
            yield from child.walk()

    def map_children(self, change: Callable[[Expr], Expr]) -> Expr:
        updates = {name: _map(getattr(self, name), change) for name in _parts(self)}
        return replace(self, **updates)


_parts_by_class: dict[type[Any], tuple[str, ...]] = {}


def _parts(node: Expr) -> tuple[str, ...]:
    """The fields that may hold expressions. To ask a class for its fields, for every node, took a tenth of the time of compiling."""
    kind = type(node)
    if kind not in _parts_by_class:
        _parts_by_class[kind] = tuple(one.name for one in fields(kind) if one.name not in ("span", "type"))
    return _parts_by_class[kind]


def _collect(value: Any, found: list[Expr]) -> None:
    if isinstance(value, Expr):
        found.append(value)
    elif isinstance(value, tuple):
        for item in value:
            _collect(item, found)


def _map(value: Any, change: Callable[[Expr], Expr]) -> Any:
    if isinstance(value, Expr):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_map(item, change) for item in value)
    return value


class Anchor(Enum):
    FIRST = "FIRST"
    LAST = "LAST"


@dataclass(frozen=True)
class Literal(Expr):
    """`value` is None, bool, int, float, decimal.Decimal, str, datetime.date, datetime.datetime or datetime.timedelta."""

    value: Any


@dataclass(frozen=True)
class Field(Expr):
    """A column of the row in context; stands only inside the body of a `Nav` or `Aggregate`."""

    name: str


@dataclass(frozen=True)
class Call(Expr):
    """An operator or function by its canonical name in `expr.typing.functions` ("add", "lt", "and", "upper", ...), or one that was added
    to them (`function`)."""

    name: str
    args: tuple[Expr, ...]
    function: UserFunction | None = None


@dataclass(frozen=True)
class Cast(Expr):
    arg: Expr
    to: Type


@dataclass(frozen=True)
class Case(Expr):
    """Searched CASE; the simple form is lowered to it."""

    branches: tuple[tuple[Expr, Expr], ...]
    otherwise: Expr | None


@dataclass(frozen=True)
class Nav(Expr):
    """The value of `body` at one row: the `offset`-th row mapped to `variable` from its first (or back from its last), then moved
    by `shift` physical rows inside the partition. `variable` None: any row of the match. No such row: null. `final` looks at the whole
    match also where the measure of one of its rows is computed; else the match ends with that row."""

    variable: str | None
    anchor: Anchor
    offset: int
    shift: int
    body: Expr
    final: bool = False


@dataclass(frozen=True)
class Aggregate(Expr):
    """`function` over `body` at the rows mapped to `variable` (None: all rows), nulls left out. COUNT without body counts rows.
    `before` leaves the current row out (SASE+ `a[..i-1]`). `final` as in `Nav`."""

    function: str
    variable: str | None
    body: Expr | None
    before: bool = False
    final: bool = False


@dataclass(frozen=True)
class MatchNumber(Expr):
    """The number of the match within its partition, from 1."""


@dataclass(frozen=True)
class Classifier(Expr):
    """The variable to which the row selected by `variable`/`anchor`/`offset` is mapped. In the body of navigation or of an aggregate:
    that of the row at which the body is evaluated, null outside of the match. `final` as in `Nav`."""

    variable: str | None = None
    anchor: Anchor = Anchor.LAST
    offset: int = 0
    final: bool = False


AGGREGATES = ("count", "sum", "avg", "min", "max", "first", "last", "stddev")


def type_of(expr: Expr) -> Type:
    assert expr.type is not None, "types are inferred before anybody asks for them"
    return expr.type


def current(body: Expr, span: Span | None = None) -> Nav:
    """`body` at the current row."""
    return Nav(None, Anchor.LAST, 0, 0, body, span=span, type=body.type)
