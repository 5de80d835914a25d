"""Functions that tests register."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc

import ostinato as ost

DOUBLE = pa.float64()


def distance(x: float, y: float) -> float:
    return math.sqrt((x - y) * (x - y))


def reciprocal(x: float) -> float:
    return 1.0 / x


def doubled(x: pa.Array) -> pa.Array:
    return pc.multiply(x, 2.0)


def shouted(s: pa.Array) -> pa.Array:
    return pc.utf8_upper(s)


@contextmanager
def forgotten_afterwards() -> Iterator[None]:
    try:
        yield
    finally:
        for name in list(ost.functions.names()):
            ost.functions.unregister(name)


def register_all(**options: bool) -> None:
    ost.functions.register("distance", distance, takes=[DOUBLE, DOUBLE], returns=DOUBLE, compiled=True, **options)
    ost.functions.register("reciprocal", reciprocal, takes=[DOUBLE], returns=DOUBLE, compiled=True, **options)
    ost.functions.register("doubled", doubled, takes=[DOUBLE], returns=DOUBLE, **options)
    ost.functions.register("shouted", shouted, takes=[pa.string()], returns=pa.string(), strict=True, **options)
