"""Arrow's buffers are read-only, which would be another type to compile every kernel for."""

from __future__ import annotations

import ctypes

import numpy as np


def borrowed(values: np.ndarray) -> np.ndarray:
    """The same memory without the read-only mark, for kernels that only read. The values are contiguous."""
    if values.flags.writeable or not values.size:
        return values if values.flags.writeable else values.copy()
    address = values.__array_interface__["data"][0]
    raw = (ctypes.c_char * values.nbytes).from_address(address)
    raw.owner = values  # lives as long as the view
    return np.frombuffer(raw, values.dtype).reshape(values.shape)
