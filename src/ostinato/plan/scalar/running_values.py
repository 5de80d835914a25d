"""How the registers of a run change when a row is bound, and how aggregates are read from them."""

from __future__ import annotations

from typing import Protocol

from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Aggregate, Anchor, Expr, type_of
from ostinato.expr.types import FLOAT, INT, Kind, Type
from ostinato.plan.scalar import run_registers as registers
from ostinato.plan.scalar.run_registers import RegisterSet, RunRegister
from ostinato.plan.scalar.scalar_assembly import ScalarAssembly
from ostinato.plan.scalar.scalar_types import float_of
from ostinato.program.opcodes import NULL_OPERAND, Op

KEPT = {"sum": registers.SUM, "min": registers.MIN, "max": registers.MAX, "first": registers.EARLIEST, "last": registers.LATEST}


class Block(Protocol):
    """The code that is being written for a row: what a register holds before the row and after it, and values of the row itself."""

    code: ScalarAssembly
    registers: RegisterSet

    @property
    def binds_first(self) -> bool:
        """Whether the row is known to be the first of its variable."""

    @property
    def binds_later(self) -> bool: ...

    def binds(self, variable: str | None) -> bool: ...

    def held(self, register: RunRegister) -> int: ...

    def updated(self, register: RunRegister) -> int: ...

    def row_value(self, body: Expr, shift: int) -> int: ...


def aggregate_value(writer: Block, aggregate: Aggregate) -> int:
    """`before` looks at the run without the current row."""
    variable, body = aggregate.variable, aggregate.body
    included = writer.binds(variable) and not aggregate.before
    read = writer.updated if included else writer.held
    if body is None:
        return read(writer.registers.rows(variable))
    if aggregate.function == "count":
        return read(writer.registers.running(registers.COUNT, variable, body, INT))
    if aggregate.function in KEPT:
        return read(writer.registers.running(KEPT[aggregate.function], variable, body, type_of(body)))
    count = read(writer.registers.running(registers.COUNT, variable, body, INT))
    if aggregate.function == "avg":
        return _average(writer, read(writer.registers.running(registers.SUM, variable, body, type_of(body))), count, type_of(body))
    if aggregate.function == "stddev":
        return _deviation(writer, read(writer.registers.running(registers.DEVIATION, variable, body, FLOAT)), count)
    raise UnsupportedError(f"{aggregate.function}() is not offered in a condition", hint="Use it in the output", span=aggregate.span)


def _average(writer: Block, total: int, count: int, type_: Type) -> int:
    if type_.kind is Kind.INT:
        return writer.code.compute(Op.DIV_INT, total, count)
    exact = total if type_.kind is Kind.FLOAT else float_of(writer.code, total, type_)
    return writer.code.compute(Op.DIV_FLOAT, exact, writer.code.compute(Op.FLOAT_OF_INT, count))


def _deviation(writer: Block, squares: int, count: int) -> int:
    """Of a sample: null for fewer than two values."""
    code = writer.code
    others = code.compute(Op.FLOAT_OF_INT, code.compute(Op.SUB_INT, count, code.whole(1)))
    found = code.compute(Op.SQRT, code.compute(Op.DIV_FLOAT, squares, others))
    target = code.fresh(Op.MOVE, NULL_OPERAND, 0)
    code.select(code.compute(Op.GT_INT, count, code.whole(1)), found, target)
    return target


def updated_value(writer: Block, register: RunRegister) -> int:
    """The operand that holds the register's value after the current row."""
    code, held = writer.code, writer.held(register)
    if register.body is None:  # a count of rows
        return code.compute(Op.ADD_INT, held, code.whole(1))
    if register.kind == registers.LAST and register.depth:
        nearer = writer.registers.at(Anchor.LAST, register.variable, register.depth - 1, register.body, register.shift, register.type)
        return writer.held(nearer)
    if register.kind == registers.FIRST:
        return _first(writer, register, register.body)
    value = writer.row_value(register.body, register.shift)
    if register.kind == registers.LAST:
        return value
    if register.kind in (registers.MEAN, registers.DEVIATION):
        return _welford(writer, register, register.body, value)
    if register.kind == registers.LATEST:
        return code.compute(Op.COALESCE, value, held)
    return code.compute(_running_operation(register), held, value)


def _running_operation(register: RunRegister) -> Op:
    if register.kind == registers.COUNT:
        return Op.COUNT
    if register.kind == registers.EARLIEST:
        return Op.COALESCE
    whole, broken, text = {
        registers.SUM: (Op.SUM_INT, Op.SUM_FLOAT, Op.SUM_INT),
        registers.MIN: (Op.MIN_INT, Op.MIN_FLOAT, Op.MIN_STRING),
        registers.MAX: (Op.MAX_INT, Op.MAX_FLOAT, Op.MAX_STRING),
    }[register.kind]
    return {Kind.FLOAT: broken, Kind.STRING: text}.get(register.type.kind, whole)


def _first(writer: Block, register: RunRegister, body: Expr) -> int:
    """Taken over from the row if it is the one that the register waits for. Which row of its variable this is may be known already."""
    own = register.variable is not None
    if own and writer.binds_later and register.depth == 0:
        return writer.held(register)
    if own and writer.binds_first:
        return writer.held(register) if register.depth else writer.row_value(body, register.shift)
    code = writer.code
    rows = writer.held(writer.registers.rows(register.variable))
    target = code.fresh(Op.MOVE, writer.held(register), 0)
    arrived = code.compute(Op.EQ_INT, rows, code.whole(register.depth))
    code.select(arrived, writer.row_value(body, register.shift), target)
    return target


def _welford(writer: Block, register: RunRegister, body: Expr, value: int) -> int:
    """Mean and sum of squared deviations after one more value; a null value changes neither."""
    code, variable = writer.code, register.variable
    mean = writer.registers.running(registers.MEAN, variable, body, FLOAT)
    number = value if type_of(body).kind is Kind.FLOAT else float_of(code, value, type_of(body))
    off = code.compute(Op.SUB_FLOAT, number, writer.held(mean))
    if register.kind == registers.MEAN:
        count = writer.updated(writer.registers.running(registers.COUNT, variable, body, INT))
        step = code.compute(Op.DIV_FLOAT, off, code.compute(Op.FLOAT_OF_INT, count))
        changed = code.compute(Op.ADD_FLOAT, writer.held(mean), step)
    else:
        still_off = code.compute(Op.SUB_FLOAT, number, writer.updated(mean))
        changed = code.compute(Op.ADD_FLOAT, writer.held(register), code.compute(Op.MUL_FLOAT, off, still_off))
    return code.compute(Op.COALESCE, changed, writer.held(register))
