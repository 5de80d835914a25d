"""Arrays that need more lines than they have."""

from __future__ import annotations

import numpy as np


def grown(array: np.ndarray, length: int) -> np.ndarray:
    """At least `length` lines, new ones zero."""
    if length <= len(array):
        return array
    new = np.zeros((length, *array.shape[1:]), array.dtype)
    new[: len(array)] = array
    return new


def lengthened(array: np.ndarray, length: int) -> np.ndarray:
    """With `length` lines, new ones to be written before they are read."""
    new = np.empty((length, *array.shape[1:]), array.dtype)
    new[: len(array)] = array
    return new
