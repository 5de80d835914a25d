"""Functions of numbers. Outside a function's domain the result is null."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ostinato.expr.types import Kind, Type
from ostinato.kernels.vectors.arithmetic import checked_product, overflowing
from ostinato.kernels.vectors.nulls import all_valid, failing, joint_valid
from ostinato.kernels.vectors.vector import Vector

Function = Callable[[Type, Sequence[Vector]], Vector]


def within(domain: Callable[[np.ndarray], np.ndarray], function: Callable[[np.ndarray], np.ndarray]) -> Function:
    def compute(type_: Type, args: Sequence[Vector]) -> Vector:
        data = args[0].data
        inside = domain(data)
        return Vector(type_, function(data), joint_valid(args[0].valid, None if inside.all() else inside))

    return compute


def exponential(type_: Type, args: Sequence[Vector]) -> Vector:
    return Vector(type_, np.exp(args[0].data), args[0].valid)


def power(type_: Type, args: Sequence[Vector]) -> Vector:
    base, exponent = args[0].data, args[1].data
    data = np.power(base, exponent)
    undefined = ((base == 0) & (exponent < 0)) | (np.isnan(data) & ~np.isnan(base) & ~np.isnan(exponent))
    return Vector(type_, data, joint_valid(all_valid(args), ~undefined if undefined.any() else None))


def sign(type_: Type, args: Sequence[Vector]) -> Vector:
    data = args[0].data
    return Vector(type_, (data > 0).astype(np.int64) - (data < 0), args[0].valid)


def floor(type_: Type, args: Sequence[Vector]) -> Vector:
    arg = args[0]
    if arg.type.kind is Kind.FLOAT:
        return Vector(type_, np.floor(arg.data), arg.valid)
    return Vector(type_, arg.data // 10**arg.type.scale, arg.valid)


def ceil(type_: Type, args: Sequence[Vector]) -> Vector:
    arg = args[0]
    if arg.type.kind is Kind.FLOAT:
        return Vector(type_, np.ceil(arg.data), arg.valid)
    unit = 10**arg.type.scale
    return Vector(type_, arg.data // unit + (arg.data % unit != 0), arg.valid)


def rounded(type_: Type, args: Sequence[Vector]) -> Vector:
    """Halves away from zero; the number of digits is a constant."""
    arg = args[0]
    digits = int(args[1].data[0]) if len(args) > 1 else 0
    if arg.type.kind is Kind.FLOAT:
        return Vector(type_, _rounded_doubles(arg.data, digits), arg.valid)
    dropped = arg.type.scale - digits
    if dropped <= 0:
        return Vector(type_, arg.data, arg.valid)
    data = half_away(arg.data, dropped)
    if digits >= 0:
        return Vector(type_, data, arg.valid)
    result, overflow = checked_product(data, np.array([10**-digits], np.int64))
    return Vector(type_, result, arg.valid, None, failing(overflow, arg.valid, *overflowing(type_)))


def half_away(data: np.ndarray, digits: int) -> np.ndarray:
    """data / 10**digits to the nearest integer, halves away from zero."""
    if digits > 19:
        return np.zeros(len(data), np.int64)
    divisor = np.uint64(10**digits)
    size = np.abs(data).view(np.uint64)  # the smallest int64 has no positive; as unsigned it is right
    whole, rest = size // divisor, size % divisor
    whole = (whole + (rest >= divisor - rest)).view(np.int64)
    return np.where(data < 0, -whole, whole)


def _rounded_doubles(data: np.ndarray, digits: int) -> np.ndarray:
    if digits == 0:
        return _nearest(data)
    factor = 10.0 ** abs(digits)
    if digits < 0:
        return _nearest(data / factor) * factor
    moved = data * factor
    return np.where(np.isfinite(moved), _nearest(moved) / factor, data)


def _nearest(data: np.ndarray) -> np.ndarray:
    whole = np.trunc(data)
    return np.where(np.abs(data - whole) >= 0.5, whole + np.sign(data), whole)


FUNCTIONS: dict[str, Function] = {
    "sqrt": within(lambda x: x >= 0, np.sqrt),
    "ln": within(lambda x: x > 0, np.log),
    "log10": within(lambda x: x > 0, np.log10),
    "exp": exponential,
    "power": power,
    "sign": sign,
    "floor": floor,
    "ceil": ceil,
    "round": rounded,
}
