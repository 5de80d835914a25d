"""Code over whole columns: one operation after another, each producing a column. Static and neighbour predicates, values that
runs keep, and measures are all computed this way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ostinato.expr.types import Type

OPERATIONS = ("input", "literal", "shift", "call", "user", "cast", "case")


@dataclass(frozen=True)
class ColumnOp:
    """`args` are the numbers of earlier operations.

    input    params (name,)            a column given by whoever evaluates the code
    literal  params (value,)           a constant, as `expr.nodes.Literal.value`
    shift    args (x,) params (n,)     x at the row n physical rows further on in the same partition (n < 0: back), null outside
    call     params (function,)        a function of `expr.typing.functions`
    user     params (signature,)       one that was added: a `FunctionSignature`, with the function itself where the code shall run
    cast     args (x,)                 x as `type`
    case     args (c1, v1, ..., else)  the value of the first true condition
    """

    op: str
    args: tuple[int, ...]
    type: Type
    params: tuple[Any, ...] = ()


@dataclass(frozen=True)
class ColumnCode:
    """`results` are the operations whose columns are wanted."""

    ops: tuple[ColumnOp, ...] = ()
    results: tuple[int, ...] = ()

    def reduced_to(self, results: Sequence[int]) -> ColumnCode:
        """Code for these operations alone, numbered anew."""
        number = {old: new for new, old in enumerate(sorted(self.needed_for(*results)))}
        ops = tuple(replace(self.ops[old], args=tuple(number[arg] for arg in self.ops[old].args)) for old in number)
        return ColumnCode(ops, tuple(number[result] for result in results))

    def needed_for(self, *results: int) -> set[int]:
        """These operations and all that they read."""
        needed = set(results)
        for number in range(max(results, default=-1), -1, -1):  # operations read earlier ones
            if number in needed:
                needed.update(self.ops[number].args)
        return needed
