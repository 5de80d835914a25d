"""Arrow's buffers are read-only, which would be another type to compile every kernel for."""

from __future__ import annotations

import numpy as np

FEW = 512


class _Unmarked:
    """The memory of an array, said to be writable. A view of it keeps this object, and by that the array."""

    def __init__(self, values: np.ndarray) -> None:
        self._owner = values
        address, _ = values.__array_interface__["data"]
        self.__array_interface__ = {**values.__array_interface__, "data": (address, False)}


def borrowed(values: np.ndarray) -> np.ndarray:
    """The same memory without the read-only mark, for kernels that only read; few values are copied, which is sooner done. The values are
    contiguous."""
    if values.flags.writeable:
        return values
    return values.copy() if values.size <= FEW else np.asarray(_Unmarked(values))
