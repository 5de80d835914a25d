"""The interpreter of scalar code over one row and the registers of one run.

Constants and temporaries share one scratch array, so that an operand is in one of three places. Values are 64-bit words; a float
travels as its bits. Beside every value stands a flag of `kernels.scalar.arithmetic`; registers keep a failure too, until a test asks. The
word of a value that failed says why: 0, or the error of a function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ostinato.base.errors import DataError
from ostinato.expr.user_function import FunctionSignature, linked
from ostinato.expr.values.user_values import failed as function_failed
from ostinato.kernels._jit import borrowing, copied, inlined, piece
from ostinato.kernels.places import place
from ostinato.kernels.scalar.arithmetic import (
    ERRORS,
    HAS_FAILED,
    IS_NULL,
    IS_VALUE,
    OVERFLOW,
    as_float,
    as_word,
    compare_float,
    compare_int,
    float_result,
    int_result,
    sorts_before,
)
from ostinato.kernels.scalar.compiled_functions import compiled
from ostinato.kernels.scalar.function_calls import FAILED_HERE, invoke
from ostinato.program.opcodes import SPACES, Op, Space, shape
from ostinato.program.scalar_code import ColumnCall, ScalarCode

NOT_TRUE = 0
TRUE = 1

IN_SCRATCH = 0
IN_SLOT = 1
IN_REGISTER = 2

ALWAYS_NULL = 0  # cells of the scratch: null, zero (for operands that are not used), then constants, then temporaries
ALWAYS_ZERO = 1
CONSTANTS = 2

FUNCTION_FAILED = -(1 << 40)  # errors from here down: this less the cell of the scratch that has the address of the function

_COPY = int(Op.COPY)
STORE = int(Op.STORE)
_TEST = int(Op.TEST)
_MOVE = int(Op.MOVE)
_SELECT = int(Op.SELECT)
_COALESCE = int(Op.COALESCE)
_IS_NULL = int(Op.IS_NULL)
_IS_NOT_NULL = int(Op.IS_NOT_NULL)
_NOT = int(Op.NOT)
_AND = int(Op.AND)
_OR = int(Op.OR)
_RANK = int(Op.RANK)
_FIRST_STRICT = int(Op.ADD_INT)
_FIRST_FLOAT_GROUP = int(Op.ADD_FLOAT)
_FIRST_AGGREGATE = int(Op.SUM_INT)
_SUM_INT = int(Op.SUM_INT)
_SUM_FLOAT = int(Op.SUM_FLOAT)
_MIN_INT = int(Op.MIN_INT)
_MAX_INT = int(Op.MAX_INT)
_MIN_FLOAT = int(Op.MIN_FLOAT)
_MAX_FLOAT = int(Op.MAX_FLOAT)
_MIN_STRING = int(Op.MIN_STRING)
_MAX_STRING = int(Op.MAX_STRING)
_COUNT = int(Op.COUNT)
_CALL = int(Op.CALL)
_ADD_INT = int(Op.ADD_INT)
_ADD_FLOAT = int(Op.ADD_FLOAT)
_MUL_FLOAT = int(Op.MUL_FLOAT)
_EQ_INT = int(Op.EQ_INT)
_EQ_FLOAT = int(Op.EQ_FLOAT)
_TEST_EQ_INT = int(Op.TEST_EQ_INT)
_TEST_EQ_FLOAT = int(Op.TEST_EQ_FLOAT)


@inlined
def load(word, scratch, scratch_valid, slots, slot_valid, row, registers, register_valid, old):
    space = word & 3
    index = place(word >> 2)
    if space == IN_SLOT:
        return slots[place(row), index], slot_valid[place(row), index]
    if space == IN_REGISTER:
        return registers[place(old), index], register_valid[place(old), index]
    return scratch[index], scratch_valid[index]


@inlined
def logic_result(op, x, x_flag, y, y_flag):
    """Operations that treat nulls and failures in their own way: one deciding operand of AND and OR settles it."""
    if op in (_AND, _OR):
        deciding = op == _OR
        if (x_flag == IS_VALUE and (x != 0) == deciding) or (y_flag == IS_VALUE and (y != 0) == deciding):
            return np.int64(deciding), IS_VALUE
        if x_flag == HAS_FAILED or y_flag == HAS_FAILED:
            return np.int64(x if x_flag == HAS_FAILED else y), HAS_FAILED
        return np.int64(not deciding), min(int(x_flag), int(y_flag))
    if x_flag == HAS_FAILED:
        return np.int64(x), HAS_FAILED
    if op == _NOT:
        return np.int64(x == 0), int(x_flag)
    if op in (_IS_NULL, _IS_NOT_NULL):
        return np.int64((x_flag == IS_NULL) == (op == _IS_NULL)), IS_VALUE
    if op == _COALESCE and x_flag == IS_NULL:
        return np.int64(y), int(y_flag)
    return np.int64(x), int(x_flag)


@inlined
def aggregate_result(op, x, x_flag, y, y_flag, ranks):
    """The running value x after the row's value y. The operations for one row's values are computed from `op`: a constant would make
    Numba compile what is called a second time for it."""
    if y_flag == IS_NULL or x_flag == HAS_FAILED:
        return np.int64(x), int(x_flag)
    if y_flag == HAS_FAILED:
        return np.int64(y), HAS_FAILED
    if op == _COUNT:
        return np.int64(x + 1), IS_VALUE
    if x_flag == IS_NULL:
        return np.int64(y), IS_VALUE
    if op == _SUM_INT:
        return int_result(op - _SUM_INT + _ADD_INT, x, y)
    if op == _SUM_FLOAT:
        return float_result(op - _SUM_FLOAT + _ADD_FLOAT, x, y)
    if op == _MIN_INT:
        return np.int64(min(x, y)), IS_VALUE
    if op == _MAX_INT:
        return np.int64(max(x, y)), IS_VALUE
    if op == _MIN_FLOAT:
        return np.int64(y if sorts_before(y, x) else x), IS_VALUE
    if op == _MAX_FLOAT:
        return np.int64(y if sorts_before(x, y) else x), IS_VALUE
    if op == _MIN_STRING:
        return np.int64(y if ranks[y] < ranks[x] else x), IS_VALUE
    return np.int64(y if ranks[y] > ranks[x] else x), IS_VALUE


@inlined
def result(op, x, x_flag, y, y_flag, ranks):
    """Value and flag of an operation that computes."""
    if op < _FIRST_STRICT:
        return logic_result(op, x, x_flag, y, y_flag)
    if op >= _FIRST_AGGREGATE and op < _EQ_INT:
        return aggregate_result(op, x, x_flag, y, y_flag, ranks)
    if x_flag != IS_VALUE or y_flag != IS_VALUE:
        failed = x_flag == HAS_FAILED or y_flag == HAS_FAILED
        return np.int64(x if x_flag == HAS_FAILED else y), HAS_FAILED if failed else IS_NULL
    if op >= _EQ_FLOAT:
        return np.int64(compare_float(op - _EQ_FLOAT, x, y)), IS_VALUE
    if op >= _EQ_INT:
        return np.int64(compare_int(op - _EQ_INT, x, y)), IS_VALUE
    if op == _RANK:
        return np.int64(ranks[x]), IS_VALUE
    if op >= _FIRST_FLOAT_GROUP:
        return float_result(op, x, y)
    return int_result(op, x, y)


@inlined
def quick_result(op, x, y):
    """Sum, difference or product of floats."""
    if op == _MUL_FLOAT:
        return as_word(as_float(x) * as_float(y))
    return as_word(as_float(x) + as_float(y)) if op == _ADD_FLOAT else as_word(as_float(x) - as_float(y))


@inlined
def error_of(word):
    """Of a value that failed."""
    return np.int64(word) if word <= FUNCTION_FAILED else np.int64(OVERFLOW)


@borrowing
def call(address, cell, first, target, scratch, scratch_valid):
    """A function of a user, whose address is in a cell of the scratch."""
    flag = invoke(address, scratch, first, scratch_valid, scratch, target)
    if flag == FAILED_HERE:
        scratch[target] = FUNCTION_FAILED - cell
        flag = np.int64(HAS_FAILED)
    scratch_valid[target] = flag


@piece(
    "int64(int64[:,::1], int64, int64, int64[::1], uint8[::1], int64[::1], int64[:,::1], uint8[:,::1], int64,"
    "int64[:,::1], uint8[:,::1], int64, int64)"
)
def evaluate(code, start, end, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, old, new):
    """Run a block for the run `old` at `row`. TRUE: its conditions hold and registers `new` (which may be `old`) have been written.
    NOT_TRUE: they do not, and nothing was written. Negative: an error, see `Interpreter.error`. A test that failed is an error only if no
    other test of the block says no."""
    failed = np.int64(0)
    for line in range(start, end):
        at = place(line)
        op, target = code[at, 0], place(code[at, 3])
        x, x_flag = load(code[at, 1], scratch, scratch_valid, slots, slot_valid, row, registers, register_valid, old)
        if op >= _TEST_EQ_INT:
            y, y_flag = load(code[at, 2], scratch, scratch_valid, slots, slot_valid, row, registers, register_valid, old)
            if x_flag != IS_VALUE or y_flag != IS_VALUE:
                if x_flag != HAS_FAILED and y_flag != HAS_FAILED:
                    return NOT_TRUE
                failed = error_of(x if x_flag == HAS_FAILED else y)
            elif op >= _TEST_EQ_FLOAT:
                if not compare_float(op - _TEST_EQ_FLOAT, x, y):
                    return NOT_TRUE
            elif not compare_int(op - _TEST_EQ_INT, x, y):
                return NOT_TRUE
        elif op == STORE:
            registers[place(new), target] = x
            register_valid[place(new), target] = x_flag
        elif op == _COPY:
            if failed != 0:
                return failed
            if new != old:
                for i in range(registers.shape[1]):
                    registers[new, i] = registers[old, i]
                    register_valid[new, i] = register_valid[old, i]
        elif op == _TEST:
            if x_flag == HAS_FAILED:
                failed = error_of(x)
            elif x_flag == IS_NULL or x == 0:
                return NOT_TRUE
        else:
            y, y_flag = load(code[at, 2], scratch, scratch_valid, slots, slot_valid, row, registers, register_valid, old)
            if op == _SELECT:
                if x_flag == HAS_FAILED:
                    scratch[target] = x
                    scratch_valid[target] = HAS_FAILED
                elif x_flag == IS_VALUE and x != 0:
                    scratch[target] = y
                    scratch_valid[target] = y_flag
            elif _ADD_FLOAT <= op <= _MUL_FLOAT and x_flag == IS_VALUE and y_flag == IS_VALUE:  # the most common, without a call
                scratch[target] = quick_result(op, x, y)
                scratch_valid[target] = IS_VALUE
            elif op == _CALL:
                call(x, code[at, 1] >> 2, code[at, 2] >> 2, code[at, 3], scratch, scratch_valid)
            else:
                value, flag = result(op, x, x_flag, y, y_flag, ranks)
                scratch[target] = value
                scratch_valid[target] = flag
    return failed if failed != 0 else np.int64(TRUE)


evaluate_inlined = copied(evaluate)  # once for all who want it


class Callee(Protocol):
    """What kernels call by its address."""

    address: int


def no_columns(call: ColumnCall) -> Callee:
    raise AssertionError(f"no scalar code here calls {call.name} of columns")


class Interpreter:
    """The arrays that `evaluate` reads, made from scalar code: `code` (operation, a, b, c), `blocks` (start, end), the scratch with
    its constants and the addresses of functions, and the sort positions of strings, which change as strings arrive."""

    def __init__(self, scalar: ScalarCode, columns: Callable[[ColumnCall], Callee] = no_columns) -> None:
        """`columns` makes what is called of column code."""
        ints, floats = CONSTANTS, CONSTANTS + len(scalar.ints)
        self._string_constants = floats + len(scalar.floats)
        functions = _function_cells(scalar)
        temps = functions + len(scalar.functions)
        count = max((c + 1 for op, c in zip(scalar.op, scalar.c, strict=True) if shape(Op(op))[2] == "t"), default=0)
        self.scratch = np.zeros(temps + count, np.int64)
        self.scratch_valid = np.zeros(temps + count, np.uint8)
        self.scratch[ints:floats] = scalar.ints
        self.scratch[floats : self._string_constants].view(np.float64)[:] = scalar.floats
        self._scalar = scalar
        functions_called = [columns(one) if isinstance(one, ColumnCall) else compiled(linked(one)) for one in scalar.functions]
        self._functions: list[Callee] = functions_called  # addresses hold as long as these live
        self.scratch[functions:temps] = [function.address for function in self._functions]
        self.scratch_valid[ALWAYS_ZERO:temps] = 1
        base = {
            Space.TEMP: temps, Space.INT: ints, Space.FLOAT: floats, Space.STRING: self._string_constants,
            Space.FUNCTION: functions,
        }  # fmt: skip
        self.code = np.zeros((len(scalar.op), 4), np.int64)
        for at, (op, a, b, c) in enumerate(zip(scalar.op, scalar.a, scalar.b, scalar.c, strict=True)):
            form = shape(Op(op))
            self.code[at] = op, _place(a, base, form[0]), _place(b, base, form[1]), c + temps if form[2] == "t" else c
        self.blocks = np.array(scalar.blocks, np.int64).reshape(-1, 2)
        self.strings = list(scalar.strings)
        self.ranked = any(op in (Op.RANK, Op.MIN_STRING, Op.MAX_STRING) for op in scalar.op)
        self.ranks = np.zeros(1, np.int64)

    def bind(self, codes: np.ndarray, ranks: np.ndarray | None) -> None:
        """Give the string constants their codes in the session, and the sort positions of all codes where they are needed."""
        self.scratch[self._string_constants : self._string_constants + len(codes)] = codes
        if ranks is not None and len(ranks):
            self.ranks = np.ascontiguousarray(ranks, np.int64)

    def error(self, code: int) -> DataError:
        """What stopped an evaluation."""
        return evaluation_error(self._scalar, code)


def evaluation_error(scalar: ScalarCode, code: int) -> DataError:
    """By the code that `evaluate` returned, or the word of a value that failed. A function's own error is the cause."""
    called = function_that_failed(scalar, code)
    if called is None:
        return DataError(ERRORS.get(code, ERRORS[OVERFLOW]), hint="Cast to DOUBLE where exact integers are not needed")
    if isinstance(called, ColumnCall):
        return DataError(f"{called.name}() cannot be computed from these values")
    function = linked(called)
    error = function_failed(function, cause := compiled(function).cause())
    error.__cause__ = cause
    return error


def function_that_failed(scalar: ScalarCode, code: int) -> FunctionSignature | ColumnCall | None:
    """None: it was no function. Words of a snapshot can be anything."""
    number = FUNCTION_FAILED - code - _function_cells(scalar)
    return scalar.functions[number] if 0 <= number < len(scalar.functions) else None


def _function_cells(scalar: ScalarCode) -> int:
    """Where the addresses of functions begin: behind all constants."""
    return CONSTANTS + len(scalar.ints) + len(scalar.floats) + len(scalar.strings)


def _place(word: int, base: dict[Space, int], used: str) -> int:
    index, space = divmod(word, SPACES)
    if used == "-":
        return ALWAYS_ZERO << 2 | IN_SCRATCH
    if space == Space.NULL:
        return ALWAYS_NULL << 2 | IN_SCRATCH
    if space == Space.SLOT:
        return index << 2 | IN_SLOT
    if space == Space.REGISTER:
        return index << 2 | IN_REGISTER
    return (base[Space(space)] + index) << 2 | IN_SCRATCH
