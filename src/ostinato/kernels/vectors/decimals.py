"""Decimals in Arrow's wide words, and as the scaled int64 that is used inside."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ostinato.base.errors import DataError
from ostinato.expr.types import Type


def decimals_from_arrow(array: pa.Array, valid: np.ndarray | None) -> np.ndarray:
    width = array.type.bit_width
    buffer = array.buffers()[1]
    if buffer is None:
        return np.zeros(len(array), np.int64)
    if width == 32:
        return np.frombuffer(buffer, np.int32, len(array), array.offset * 4).astype(np.int64)
    words = np.frombuffer(buffer, np.int64, len(array) * (width // 64), array.offset * (width // 8)).reshape(len(array), width // 64)
    low = np.ascontiguousarray(words[:, 0])
    if width > 64:
        # The number fits one word if the others only repeat its sign.
        beyond = (words[:, 1:] != (low >> 63)[:, None]).any(axis=1)
        if (beyond if valid is None else beyond & valid).any():
            raise DataError(
                f"A value of {array.type} has more than 18 digits", hint="Cast the column to DOUBLE, or to a decimal of smaller scale"
            )
    return low


def decimals_to_arrow(data: np.ndarray, mask: np.ndarray | None, type_: Type) -> pa.Array:
    if type_.precision < 19:
        bound = 10**type_.precision
        beyond = (data >= bound) | (data <= -bound)
        if (beyond if mask is None else beyond & ~mask).any():
            raise DataError(f"A value does not fit {type_}", hint="CAST it to a wider decimal, or to DOUBLE")
    words = np.empty((len(data), 2), np.int64)
    words[:, 0] = data
    words[:, 1] = data >> 63
    validity = None if mask is None else pa.array(~mask).buffers()[1]
    return pa.Array.from_buffers(pa.decimal128(type_.precision, type_.scale), len(data), [validity, pa.py_buffer(words)])
