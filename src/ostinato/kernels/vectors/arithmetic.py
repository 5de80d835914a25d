"""Sums, products and their like. Integers (and decimals, times, intervals, which are integers inside) are checked for overflow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ostinato.expr.types import Kind, Type
from ostinato.expr.typing.physical import computable, overflow
from ostinato.kernels.vectors.nulls import all_valid, failing, joint_valid
from ostinato.kernels.vectors.vector import Vector

MIN = np.iinfo(np.int64).min
NEAR_LIMIT = 9.2e18  # a product that is smaller as a double is surely below 2**63


def overflowing(type_: Type) -> tuple[str, str | None]:
    error = overflow(type_)
    return error.message, error.hint


def beyond_calendar(data: np.ndarray, type_: Type) -> np.ndarray:
    held = computable(type_)
    return (data < held.start) | (data >= held.stop)


def checked_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    result = a + b
    return result, ((a ^ result) & (b ^ result)) < 0


def checked_difference(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    result = a - b
    return result, ((a ^ b) & (a ^ result)) < 0


def checked_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    result = a * b
    beyond = np.abs(a.astype(np.float64) * b.astype(np.float64)) >= NEAR_LIMIT
    if beyond.any():
        # Too close to tell with doubles: exact integers, for these rows alone.
        rows = np.flatnonzero(beyond)
        left, right = (np.broadcast_to(x, beyond.shape)[rows].astype(object) for x in (a, b))
        exact = left * right
        beyond[rows] = (exact < MIN) | (exact > -MIN - 1)
    return result, beyond


CHECKED = {"add": checked_sum, "sub": checked_difference, "mul": checked_product}
PLAIN: dict[str, Callable[..., np.ndarray]] = {"add": np.add, "sub": np.subtract, "mul": np.multiply}


def binary(name: str) -> Callable[[Type, Sequence[Vector]], Vector]:
    def compute(type_: Type, args: Sequence[Vector]) -> Vector:
        a, b = args
        valid = all_valid(args)
        if type_.kind is Kind.FLOAT:
            return Vector(type_, PLAIN[name](a.data, b.data), valid)
        result, beyond = CHECKED[name](a.data, b.data)
        if type_.is_temporal:
            beyond = beyond | beyond_calendar(result, type_)
        return Vector(type_, result, valid, None, failing(beyond, valid, *overflowing(type_)))

    return compute


def negative(type_: Type, args: Sequence[Vector]) -> Vector:
    return _signed(type_, args[0], np.negative)


def absolute(type_: Type, args: Sequence[Vector]) -> Vector:
    return _signed(type_, args[0], np.abs)


def _signed(type_: Type, arg: Vector, change: Callable[[np.ndarray], np.ndarray]) -> Vector:
    failure = None if type_.kind is Kind.FLOAT else failing(arg.data == MIN, arg.valid, *overflowing(type_))
    return Vector(type_, change(arg.data), arg.valid, None, failure)


def divide(type_: Type, args: Sequence[Vector]) -> Vector:
    """Of doubles; null where the divisor is zero."""
    a, b = args
    return Vector(type_, a.data / b.data, joint_valid(all_valid(args), _nonzero(b.data)))


def remainder(type_: Type, args: Sequence[Vector]) -> Vector:
    """With the sign of the dividend; null where the divisor is zero."""
    a, b = args
    nonzero = _nonzero(b.data)
    divisor = b.data if nonzero is None else np.where(nonzero, b.data, b.data.dtype.type(1))
    return Vector(type_, np.fmod(a.data, divisor), joint_valid(all_valid(args), nonzero))


def _nonzero(data: np.ndarray) -> np.ndarray | None:
    nonzero = data != 0
    return None if nonzero.all() else nonzero


FUNCTIONS = {
    **{name: binary(name) for name in CHECKED},
    "neg": negative,
    "abs": absolute,
    "div": divide,
    "mod": remainder,
}
