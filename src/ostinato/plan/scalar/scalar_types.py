"""Conversions between the physical forms of types, inside scalar code."""

from __future__ import annotations

from dataclasses import replace

from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Expr
from ostinato.expr.types import FLOAT, TIMESTAMP, Kind, Type, decimal, finer_unit
from ostinato.plan.scalar.scalar_assembly import ScalarAssembly
from ostinato.program.opcodes import NULL_OPERAND, Op

MICROSECONDS_PER_DAY = 86_400_000_000
LARGEST_PRECISION = 38


def scale_of(type_: Type) -> int:
    return type_.scale if type_.kind is Kind.DECIMAL else 0


def common_type(left: Type, right: Type) -> Type:
    """In which two values are compared."""
    kinds = {left.kind, right.kind}
    if Kind.NULL in kinds:
        return right if left.kind is Kind.NULL else left
    if Kind.FLOAT in kinds:
        return FLOAT
    if Kind.DECIMAL in kinds:
        return decimal(LARGEST_PRECISION, max(scale_of(left), scale_of(right)))
    if kinds == {Kind.DATE, Kind.TIMESTAMP}:
        return replace(TIMESTAMP, unit=finer_unit(left, right))
    return left if left.unit == finer_unit(left, right) else right


def can_convert(given: Type, wanted: Type) -> bool:
    """Whether `convert` can."""
    if given.kind is Kind.NULL or (given.kind is wanted.kind and scale_of(given) == scale_of(wanted) and given.unit == wanted.unit):
        return True
    exact = given.kind in (Kind.INT, Kind.DECIMAL, Kind.BOOL)
    if exact and (wanted.kind is Kind.FLOAT or (wanted.kind in (Kind.INT, Kind.DECIMAL) and scale_of(wanted) >= scale_of(given))):
        return True
    if wanted.kind is Kind.TIMESTAMP and given.kind is Kind.DATE:
        return True
    return given.kind is wanted.kind and wanted.kind in (Kind.TIMESTAMP, Kind.INTERVAL) and wanted.ticks >= given.ticks


def convert(code: ScalarAssembly, value: int, given: Type, wanted: Type, at: Expr) -> int:
    """`value` in the form of another type; conversions that lose digits are done on columns, not here."""
    if given.kind is Kind.NULL:
        return NULL_OPERAND
    if given.kind is wanted.kind and scale_of(given) == scale_of(wanted) and given.unit == wanted.unit:
        return value
    exact = given.kind in (Kind.INT, Kind.DECIMAL, Kind.BOOL)
    if wanted.kind is Kind.FLOAT and exact:
        return float_of(code, value, given)
    if wanted.kind in (Kind.INT, Kind.DECIMAL) and exact and scale_of(wanted) >= scale_of(given):
        factor = 10 ** (scale_of(wanted) - scale_of(given))
        return value if factor == 1 else code.compute(Op.MUL_INT, value, code.whole(factor))
    if wanted.kind is Kind.TIMESTAMP and given.kind is Kind.DATE:
        return code.compute(Op.MUL_INT, value, code.whole(MICROSECONDS_PER_DAY * wanted.ticks))
    if given.kind is wanted.kind and wanted.kind in (Kind.TIMESTAMP, Kind.INTERVAL) and wanted.ticks >= given.ticks:
        return code.compute(Op.MUL_INT, value, code.whole(wanted.ticks // given.ticks))
    raise UnsupportedError(
        f"A value computed from several events cannot be converted from {given} to {wanted} here",
        hint="Convert the events' own values instead, or compare in the original type",
        span=at.span,
    )


def float_of(code: ScalarAssembly, value: int, given: Type) -> int:
    if scale_of(given) == 0:
        return code.compute(Op.FLOAT_OF_INT, value)
    # One division of exact integers keeps the nearest float, as the columns do.
    return code.compute(Op.DIV_INT, value, code.whole(10 ** scale_of(given)))
