"""Definitions of situations as they are written. Nothing is resolved yet."""

from __future__ import annotations

from dataclasses import dataclass, field

from ostinato.base.span import NOWHERE, Span
from ostinato.expr.nodes import Expr
from ostinato.lang.streams.window import Window


@dataclass(frozen=True)
class Name:
    """Of a situation or of a column, where the text uses it."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class StreamName:
    """`Engine`, `jobs INTERVAL (begun, ended)`: `start` and `end` are the columns of a stream whose rows last."""

    name: str
    start: Name | None = None
    end: Name | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Lasting:
    """`AT LEAST 5 SECONDS`, `AT MOST ...`, `BETWEEN ... AND ...`."""

    at_least: Window | None = None
    at_most: Window | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Definition:
    """`name FROM stream AS condition lasting`. Where a BETWEEN with plain numbers ends the definition, it is a duration behind a complete
    condition, else part of it: `flag BETWEEN 2 AND 9` is the one or the other. Where types have to decide, `compared` is the whole as a
    condition."""

    name: str
    stream: StreamName | None = None
    condition: Expr | None = None
    lasting: Lasting | None = None
    compared: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Returned:
    """`expr AS name`."""

    expr: Expr
    name: str | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)
