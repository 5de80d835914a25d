"""Arithmetic on single values that are not null, in physical form. Outside a function's domain the result is null (None)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ostinato.expr.types import Kind, Type
from ostinato.expr.typing.physical import in_range


def half_away(value: int, divisor: int) -> int:
    """value / divisor to the nearest integer, halves away from zero."""
    whole, rest = divmod(abs(value), divisor)
    whole += 2 * rest >= divisor
    return whole if value >= 0 else -whole


def divide(a: float, b: float) -> float | None:
    return None if b == 0 else a / b


def remainder(a: Any, b: Any) -> Any:
    """The sign of the dividend."""
    if b == 0:
        return None
    if isinstance(a, int):
        return abs(a) % abs(b) * (1 if a >= 0 else -1)
    return math.nan if math.isinf(a) or math.isnan(a) or math.isnan(b) else math.fmod(a, b)


def power(base: float, exponent: float) -> float | None:
    if base == 0 and exponent < 0:
        return None
    try:
        return math.pow(base, exponent)
    except ValueError:
        return None
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf


def exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def float_round(x: float) -> float:
    """Halves away from zero."""
    if not math.isfinite(x):
        return x
    whole = math.trunc(x)
    if abs(x - whole) >= 0.5:
        whole += 1 if x > 0 else -1
    return math.copysign(float(whole), x)


def rounded(x: Any, digits: int, own: Type, result: Type) -> Any:
    if own.kind is Kind.FLOAT:
        return _float_rounded(x, digits)
    dropped = own.scale - digits
    if dropped <= 0:
        return x
    return in_range(half_away(x, 10**dropped) * 10 ** max(0, -digits), result)


def _float_rounded(x: float, digits: int) -> float:
    if digits == 0:
        return float_round(x)
    factor = 10.0 ** abs(digits)
    if digits > 0:
        moved = x * factor
        return x if not math.isfinite(moved) else float_round(moved) / factor
    return float_round(x / factor) * factor


def ceil(x: Any, own: Type) -> Any:
    return -_floor(-x, own)


def floor(x: Any, own: Type) -> Any:
    return _floor(x, own)


def _floor(x: Any, own: Type) -> Any:
    if own.kind is Kind.FLOAT:
        return math.copysign(float(math.floor(x)), x) if math.isfinite(x) else x
    return x // 10**own.scale


FLOAT_FUNCTIONS: dict[str, Callable[..., float | None]] = {
    "div": divide,
    "sqrt": lambda x: math.sqrt(x) if x >= 0 else None,
    "exp": exp,
    "ln": lambda x: math.log(x) if x > 0 else None,
    "log10": lambda x: math.log10(x) if x > 0 else None,
    "power": power,
}

EXACT: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "abs": abs,
}


def arithmetic(name: str, result: Type, *args: Any) -> Any:
    """add, sub, mul, neg, abs of integers (checked) and doubles."""
    value = EXACT[name](*args)
    return value if result.kind is Kind.FLOAT else in_range(value, result)
