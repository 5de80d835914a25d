"""Checked arithmetic and comparisons on 64-bit words, for scalar code. Results come with a flag: a value, null, or failed."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.program.opcodes import Op

IS_NULL = 0
IS_VALUE = 1
HAS_FAILED = 2  # an error, if anything depends on it

OVERFLOW = -1  # what evaluation returns then
TOO_MANY = -2

ERRORS = {OVERFLOW: "an integer calculation went beyond 64 bits", TOO_MANY: "the number of matches went beyond 64 bits"}

_MAX = np.iinfo(np.int64).max
_MIN = np.iinfo(np.int64).min
_BOUND = float(2**63)

_ADD_INT = int(Op.ADD_INT)
_SUB_INT = int(Op.SUB_INT)
_MUL_INT = int(Op.MUL_INT)
_MOD_INT = int(Op.MOD_INT)
_QUOTIENT_INT = int(Op.QUOTIENT_INT)
_NEG_INT = int(Op.NEG_INT)
_ADD_FLOAT = int(Op.ADD_FLOAT)
_SUB_FLOAT = int(Op.SUB_FLOAT)
_MUL_FLOAT = int(Op.MUL_FLOAT)
_DIV_FLOAT = int(Op.DIV_FLOAT)
_MOD_FLOAT = int(Op.MOD_FLOAT)
_NEG_FLOAT = int(Op.NEG_FLOAT)
_ABS_FLOAT = int(Op.ABS_FLOAT)
_DIV_INT = int(Op.DIV_INT)
_FLOAT_OF_INT = int(Op.FLOAT_OF_INT)
_INT_OF_FLOAT = int(Op.INT_OF_FLOAT)
_SQRT = int(Op.SQRT)
_FLOOR = int(Op.FLOOR)
_ROUND = int(Op.ROUND)
_EXP = int(Op.EXP)
_LN = int(Op.LN)
_LOG10 = int(Op.LOG10)
_POWER = int(Op.POWER)


@inlined
def as_float(word):
    return np.int64(word).view(np.float64)


@inlined
def as_word(number):
    return np.float64(number).view(np.int64)


@borrowing
def addition_overflows(x, y):
    if y > 0:
        return x > _MAX - y
    return x < _MIN - y


@borrowing
def subtraction_overflows(x, y):
    if y > 0:
        return x < _MIN + y
    return x > _MAX + y


@borrowing
def multiplication_overflows(x, y):
    if x == 0 or y == 0 or x == 1 or y == 1:
        return False
    if x == _MIN or y == _MIN:
        return True
    if (x > 0) == (y > 0):
        return abs(x) > _MAX // abs(y)
    if x == -1 or y == -1:
        return False
    positive = max(x, y)
    negative = min(x, y)
    return negative < -(_MIN // -positive)


@borrowing
def quotient_and_rest(x, y):
    """Truncated towards zero; y is neither 0 nor -1."""
    quotient = x // y
    rest = x % y
    if rest != 0 and (x < 0) != (y < 0):
        return quotient + 1, rest - y
    return quotient, rest


@borrowing
def int_result(op, x, y):
    if op == _ADD_INT:
        if addition_overflows(x, y):
            return np.int64(0), HAS_FAILED
        return np.int64(x + y), IS_VALUE
    if op == _SUB_INT:
        if subtraction_overflows(x, y):
            return np.int64(0), HAS_FAILED
        return np.int64(x - y), IS_VALUE
    if op == _MUL_INT:
        if multiplication_overflows(x, y):
            return np.int64(0), HAS_FAILED
        return np.int64(x * y), IS_VALUE
    if op == _MOD_INT:
        if y == 0:
            return np.int64(0), IS_NULL
        return np.int64(0) if y == -1 else np.int64(quotient_and_rest(x, y)[1]), IS_VALUE
    if op == _QUOTIENT_INT and y == 0:
        return np.int64(0), IS_NULL
    if op == _QUOTIENT_INT and y != -1:
        return np.int64(quotient_and_rest(x, y)[0]), IS_VALUE
    if op >= _QUOTIENT_INT and x == _MIN:
        return np.int64(0), HAS_FAILED
    if op in (_QUOTIENT_INT, _NEG_INT):
        return np.int64(-x), IS_VALUE
    return np.int64(abs(x)), IS_VALUE


@borrowing
def float_result(op, x_word, y_word):
    if op == _FLOAT_OF_INT:
        return as_word(np.float64(x_word)), IS_VALUE
    if op == _DIV_INT:
        if y_word == 0:
            return np.int64(0), IS_NULL
        return as_word(np.float64(x_word) / np.float64(y_word)), IS_VALUE
    x = as_float(x_word)
    y = as_float(y_word)
    if op == _ADD_FLOAT:
        return as_word(x + y), IS_VALUE
    if op == _SUB_FLOAT:
        return as_word(x - y), IS_VALUE
    if op == _MUL_FLOAT:
        return as_word(x * y), IS_VALUE
    if op in (_DIV_FLOAT, _MOD_FLOAT):
        if y == 0.0:
            return np.int64(0), IS_NULL
        return as_word(x / y) if op == _DIV_FLOAT else as_word(np.fmod(x, y)), IS_VALUE
    if op == _POWER:
        return power_result(x, y)
    return unary_float_result(op, x)


@borrowing
def power_result(x, y):
    if x == 0.0 and y < 0.0:
        return np.int64(0), IS_NULL
    power = np.power(x, y)
    if np.isnan(power) and not np.isnan(x) and not np.isnan(y):
        return np.int64(0), IS_NULL
    return as_word(power), IS_VALUE


@borrowing
def rounded(x):
    """Halves away from zero, as columns do; adding 0.5 would lift the largest number below it."""
    whole = np.trunc(x)
    if abs(x - whole) >= 0.5:
        whole += 1.0 if x > 0.0 else -1.0
    return np.copysign(whole, x)


@borrowing
def unary_float_result(op, x):
    if op == _NEG_FLOAT:
        return as_word(-x), IS_VALUE
    if op == _ABS_FLOAT:
        return as_word(abs(x)), IS_VALUE
    if op == _INT_OF_FLOAT:
        nearest = np.rint(x)
        if not (nearest >= -_BOUND and nearest < _BOUND):
            return np.int64(0), HAS_FAILED
        return np.int64(nearest), IS_VALUE
    if op == _SQRT:
        if not x >= 0.0:
            return np.int64(0), IS_NULL
        return as_word(np.sqrt(x)), IS_VALUE
    if op in (_LN, _LOG10):
        if not x > 0.0:
            return np.int64(0), IS_NULL
        return as_word(np.log(x)) if op == _LN else as_word(np.log10(x)), IS_VALUE
    if op == _EXP:
        return as_word(np.exp(x)), IS_VALUE
    if op == _ROUND:
        return as_word(rounded(x)), IS_VALUE
    return as_word(np.floor(x)) if op == _FLOOR else as_word(np.ceil(x)), IS_VALUE


@inlined
def compare_int(relation, x, y):
    """`relation` counts eq, ne, lt, le, gt, ge."""
    if relation == 0:
        return x == y
    if relation == 1:
        return x != y
    if relation == 2:
        return x < y
    if relation == 3:
        return x <= y
    if relation == 4:
        return x > y
    return x >= y


@inlined
def compare_float(relation, x_word, y_word):
    x = as_float(x_word)
    y = as_float(y_word)
    if relation == 0:
        return x == y
    if relation == 1:
        return x != y
    if relation == 2:
        return x < y
    if relation == 3:
        return x <= y
    if relation == 4:
        return x > y
    return x >= y


@inlined
def sorts_before(x_word, y_word):
    """The order of MIN and MAX over floats: NaN is greater than every number, as in DuckDB and Spark."""
    x = as_float(x_word)
    y = as_float(y_word)
    return x < y or (y != y and x == x)
