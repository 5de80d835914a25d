"""Row expressions to column code, equal subexpressions computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Call, Case, Cast, Expr, Literal, type_of
from ostinato.expr.types import Type
from ostinato.program.column_code import ColumnCode, ColumnOp

Resolve = Callable[[Expr], int | None]


class ColumnBuilder:
    """Collects operations; every method returns the number of one."""

    def __init__(self) -> None:
        self._ops: list[ColumnOp] = []
        self._numbers: dict[Any, int] = {}

    def add(self, expr: Expr, resolve: Resolve) -> int:
        """A typed expression. `resolve` is asked first at every node, and gives the operation of those that it knows (columns,
        navigation); None leaves the node to the builder."""
        known = resolve(expr)
        if known is not None:
            return known
        type_ = type_of(expr)
        if isinstance(expr, Literal):
            return self.literal(expr.value, type_)
        if isinstance(expr, Call):
            args = tuple(self.add(arg, resolve) for arg in expr.args)
            return self._op("call", args, type_, (expr.name,)) if expr.function is None else self._op("user", args, type_, (expr.function,))
        if isinstance(expr, Cast):
            return self._op("cast", (self.add(expr.arg, resolve),), type_)
        if isinstance(expr, Case):
            return self._case(expr, resolve)
        raise UnsupportedError(f"{type(expr).__name__} cannot be computed as a column", span=expr.span)

    def input(self, name: str, type_: Type) -> int:
        return self._op("input", (), type_, (name,))

    def literal(self, value: Any, type_: Type) -> int:
        return self._op("literal", (), type_, (value,))

    def shift(self, op: int, rows: int) -> int:
        """The column of `op` at the row that many physical rows further on (negative: back)."""
        return self._op("shift", (op,), self._ops[op].type, (rows,)) if rows else op

    def finish(self, results: Sequence[int]) -> ColumnCode:
        return ColumnCode(tuple(self._ops), tuple(results))

    def _case(self, case: Case, resolve: Resolve) -> int:
        type_ = type_of(case)
        args = [self.add(part, resolve) for branch in case.branches for part in branch]
        rest = self.literal(None, type_) if case.otherwise is None else self.add(case.otherwise, resolve)
        return self._op("case", (*args, rest), type_)

    def _op(self, op: str, args: tuple[int, ...], type_: Type, params: tuple[Any, ...] = ()) -> int:
        key = (op, args, type_, repr(params))  # 1, 1.0 and TRUE are equal in Python, and so are 0.0 and -0.0
        if key not in self._numbers:
            self._numbers[key] = len(self._ops)
            self._ops.append(ColumnOp(op, args, type_, params))
        return self._numbers[key]
