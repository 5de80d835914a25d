"""Indices that are known not to be negative. A signed one may count from the end of an array, and the check for that is several
instructions at every access; where a step is little more than a few accesses, it takes a good part of the time."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import inlined


@inlined
def place(index):
    """To be used as an index only: sums of signed and unsigned numbers are floats."""
    return np.uint64(index)
