"""Names in a parsed expression that are not resolved yet. Lowering replaces them; `expr.typing.infer` resolves what is left."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.expr.nodes import Expr


@dataclass(frozen=True)
class RawColumn(Expr):
    """`price`, `A.price`: the parts as written, without quotes. `quoted` says which of them had some."""

    parts: tuple[str, ...]
    quoted: tuple[bool, ...] = ()


@dataclass(frozen=True)
class RawCall(Expr):
    """`name(args)`, `name(*)` (`star`), `name(A.*)` (`star` and `star_of`), `name(DISTINCT x)`. `name` is as written."""

    name: str
    args: tuple[Expr, ...]
    star: bool = False
    star_of: str | None = None
    distinct: bool = False
