"""Values as 64-bit integers that compare as they do: what an index over constants is sorted and searched by."""

from __future__ import annotations

import numpy as np

from ostinato.expr.types import Kind
from ostinato.kernels.vectors.vector import Vector
from ostinato.runtime.rows.string_pool import StringPool

POSITIVE = np.int64(0x7FFFFFFFFFFFFFFF)


def ordered_image(data: np.ndarray) -> np.ndarray:
    """Integers as they are; doubles so that the order of the images is theirs, both zeros the same."""
    if data.dtype != np.float64:
        return data.astype(np.int64, copy=False)
    bits = (data + 0.0).view(np.int64)
    return bits ^ ((bits >> 63) & POSITIVE)


def image_of(vector: Vector, pool: StringPool) -> tuple[np.ndarray, np.ndarray | None]:
    """Of the values of events, and which have one that can be compared (None: all). Texts are known by their codes among the constants,
    -1 where they are none of them."""
    if vector.type.kind is Kind.STRING:
        codes = pool.find(vector.dictionary)
        return (codes[vector.data] if len(codes) else np.full(len(vector.data), -1)), vector.valid
    if vector.data.dtype != np.float64:
        return ordered_image(vector.data), vector.valid
    numbers = vector.data == vector.data
    if numbers.all():
        return ordered_image(vector.data), vector.valid
    return ordered_image(vector.data), numbers if vector.valid is None else numbers & vector.valid
