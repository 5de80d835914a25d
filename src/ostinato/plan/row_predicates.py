"""Columnar predicates and current-row values, as code over whole columns."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Call, Expr, Field, Nav, type_of
from ostinato.expr.types import BOOL, Type
from ostinato.plan.column_code import ColumnBuilder
from ostinato.program.column_code import ColumnCode

MAX_BITS = 64


class RowEmitter:
    """Numbers predicate bits and value slots; equal ones share a number."""

    def __init__(self) -> None:
        self._builder = ColumnBuilder()
        self._bits: list[int] = []
        self._slots: list[int] = []
        self._slot_types: list[Type] = []
        self.shifts: set[int] = {0}

    def bit(self, conditions: Sequence[Expr]) -> int:
        """The bit of a conjunction, -1 if it is empty."""
        if not conditions:
            return -1
        whole = conditions[0] if len(conditions) == 1 else Call("and", tuple(conditions), type=BOOL)
        op = self._builder.add(whole, self._resolve)
        if op not in self._bits:
            self._bits.append(op)
        return self._bits.index(op)

    def slot(self, nav: Nav) -> int:
        """The slot of a value at the current row."""
        op = self._navigation(nav)
        if op not in self._slots:
            self._slots.append(op)
            self._slot_types.append(type_of(nav.body))
        return self._slots.index(op)

    def _resolve(self, expr: Expr) -> int | None:
        return self._navigation(expr) if isinstance(expr, Nav) else None

    def _navigation(self, nav: Nav) -> int:
        op = self._builder.add(nav.body, self._field)
        if nav.shift:
            self.shifts.add(nav.shift)
            op = self._builder.shift(op, nav.shift)
        return op

    def _field(self, expr: Expr) -> int | None:
        return self._builder.input(expr.name, type_of(expr)) if isinstance(expr, Field) else None

    def finish(self) -> tuple[ColumnCode, int, tuple[Type, ...]]:
        count = len(self._bits)
        if count > MAX_BITS:
            raise UnsupportedError(f"the query has {count} different conditions on rows; {MAX_BITS} are the most", hint="split the query")
        return self._builder.finish([*self._bits, *self._slots]), len(self._bits), tuple(self._slot_types)
