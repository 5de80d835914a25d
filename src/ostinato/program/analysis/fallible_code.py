"""What of a pattern can fail at some value: such a query is put in quarantine by itself, so it is not evaluated as one with others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from ostinato.expr.types import Kind
from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.measure_code import MatchAggregate
from ostinato.program.opcodes import Op
from ostinato.program.pattern import Pattern
from ostinato.program.scalar_code import ScalarCode

NEVER_FAILS = ("and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "in", "is_null", "is_not_null", "distinct", "coalesce",
               "greatest", "least", "like", "starts_with", "ends_with", "contains", "upper", "lower", "length")  # fmt: skip
OF_DOUBLES = ("add", "sub", "mul", "div", "neg", "abs", "sqrt", "exp", "ln", "log10", "power")
CAN_FAIL = frozenset((Op.ADD_INT, Op.SUB_INT, Op.MUL_INT, Op.QUOTIENT_INT, Op.NEG_INT, Op.ABS_INT, Op.INT_OF_FLOAT, Op.SUM_INT, Op.CALL))


def op_may_fail(op: ColumnOp) -> bool:
    """A value out of range. What may fail is evaluated for every row, whether a query wants it or not."""
    if op.op in ("cast", "user"):
        return op.op == "user" or op.type.kind is not Kind.FLOAT
    return op.op == "call" and op.params[0] not in NEVER_FAILS and not (op.type.kind is Kind.FLOAT and op.params[0] in OF_DOUBLES)


def may_fail(pattern: Pattern) -> bool:
    """In a condition over the match, in a negation, or in what is returned."""
    return any(_code_may_fail(code) for code in _codes(pattern))


def _code_may_fail(code: ColumnCode | ScalarCode | MatchAggregate) -> bool:
    if isinstance(code, ColumnCode):
        return any(map(op_may_fail, code.ops))
    if isinstance(code, ScalarCode):
        return not CAN_FAIL.isdisjoint(code.op)
    return code.function == "sum" and code.type.kind is not Kind.FLOAT


def _codes(value: Any) -> Iterator[ColumnCode | ScalarCode | MatchAggregate]:
    """All of it, wherever it stands in the pattern."""
    if isinstance(value, ColumnCode | ScalarCode | MatchAggregate):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _codes(getattr(value, field.name))
    elif isinstance(value, tuple):
        for one in value:
            yield from _codes(one)
