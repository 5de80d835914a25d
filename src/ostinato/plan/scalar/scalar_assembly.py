"""Putting scalar code together: operations, temporaries and constants, without knowing what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from ostinato.base.errors import UnsupportedError
from ostinato.base.span import Span
from ostinato.expr.types import Kind, Type
from ostinato.expr.typing.physical import to_physical
from ostinato.expr.user_function import UserFunction
from ostinato.program.opcodes import NULL_OPERAND, SPACES, TESTED, Op, Space, operand, shape
from ostinato.program.scalar_code import ColumnCall, ScalarCode


class ScalarAssembly:
    """Constants are shared by all blocks; temporaries begin anew in each, and equal operations of a block are done once."""

    def __init__(self) -> None:
        self._op: list[tuple[int, int, int, int]] = []
        self._constants: dict[Space, dict[Any, int]] = {Space.INT: {}, Space.FLOAT: {}, Space.STRING: {}}
        self._functions: dict[UserFunction | ColumnCall, int] = {}
        self._blocks: list[tuple[int, int]] = []
        self._begin_block()

    def _begin_block(self) -> None:
        self._start = len(self._op)
        self._temps = 0
        self._done: dict[tuple[object, ...], int] = {}

    def end_block(self) -> int:
        self._blocks.append((self._start, len(self._op)))
        self._begin_block()
        return len(self._blocks) - 1

    @property
    def block_is_empty(self) -> bool:
        return len(self._op) == self._start

    def compute(self, op: Op, a: int, b: int = NULL_OPERAND) -> int:
        """The operand that holds the result."""
        key = (op, a, b if shape(op)[1] == "b" else UNUSED)
        if key not in self._done:
            self._done[key] = self.fresh(op, a, key[2])
        return self._done[key]

    def fresh(self, op: Op, a: int, b: int) -> int:
        """The same in a temporary of its own."""
        self._op.append((op, a, b, self._temps))
        self._temps += 1
        return operand(Space.TEMP, self._temps - 1)

    def call(self, function: UserFunction | ColumnCall, operands: Sequence[int]) -> int:
        """The operand that holds what a function makes of these: they are put side by side before."""
        key = (Op.CALL, function, *operands)
        if key not in self._done:
            first, *_ = [self.fresh(Op.MOVE, word, UNUSED) for word in operands]
            number = self._functions.setdefault(function, len(self._functions))
            self._done[key] = self.fresh(Op.CALL, operand(Space.FUNCTION, number), first)
        return self._done[key]

    def select(self, condition: int, chosen: int, target: int) -> None:
        self._op.append((Op.SELECT, condition, chosen, target // SPACES))

    def store(self, register: int, source: int) -> None:
        self._op.append((Op.STORE, source, UNUSED, register))

    def copy(self) -> None:
        self._op.append((Op.COPY, UNUSED, UNUSED, 0))

    def test(self, value: int) -> None:
        """A comparison that was just computed is tested in one operation."""
        if self._op and len(self._op) > self._start:
            op, a, b, c = self._op[-1]
            if Op.EQ_INT <= op <= Op.GE_FLOAT and value == operand(Space.TEMP, c):
                self._op[-1] = (op + TESTED, a, b, 0)
                self._done.pop((op, a, b), None)
                return
        self._op.append((Op.TEST, value, UNUSED, 0))

    def constant(self, value: Any, type_: Type, span: Span | None = None) -> int:
        if value is None:
            return NULL_OPERAND
        if type_.kind is Kind.FLOAT:
            return self._pooled(Space.FLOAT, float(value))
        if type_.kind is Kind.STRING:
            return self._pooled(Space.STRING, str(value))
        number = physical(value, type_)
        if not -(2**63) <= number < 2**63:
            raise UnsupportedError(f"The number {value} does not fit into 64 bits", hint="Write it as a float, 1e20", span=span)
        return self._pooled(Space.INT, number)

    def whole(self, value: int) -> int:
        return self._pooled(Space.INT, value)

    def _pooled(self, space: Space, value: Any) -> int:
        pool = self._constants[space]
        key = repr(value) if space is Space.FLOAT else value  # 0.0 and -0.0 are equal, and NaN is not
        return operand(space, pool.setdefault(key, len(pool)))

    def finish(self) -> ScalarCode:
        columns = list(zip(*self._op, strict=True)) if self._op else [(), (), (), ()]
        op, a, b, c = (tuple(int(word) for word in column) for column in columns)
        floats = tuple(float(text) for text in self._constants[Space.FLOAT])
        strings = tuple(self._constants[Space.STRING])
        return ScalarCode(op, a, b, c, tuple(self._constants[Space.INT]), floats, strings, tuple(self._blocks), tuple(self._functions))


UNUSED = 0


def physical(value: Any, type_: Type) -> int:
    """How a constant that is not a float or a string is held: see `expr.types`."""
    if type_.is_temporal or type_.kind is Kind.INTERVAL:
        return int(to_physical(value, type_))
    if type_.kind is Kind.DECIMAL:
        return int((Decimal(value) * 10**type_.scale).to_integral_value())
    return int(value)
