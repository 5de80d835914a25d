"""Arrays that need more lines than they have."""

from __future__ import annotations

import numpy as np

MANY = 1 << 10  # numbers; for fewer, looking at them takes longer than it saves


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


def as_slice(numbers: np.ndarray) -> np.ndarray | slice:
    """The same elements: many numbers that follow one another as a slice, which is read without being gathered."""
    if len(numbers) < MANY or numbers[-1] - numbers[0] != len(numbers) - 1 or not (numbers[1:] > numbers[:-1]).all():
        return numbers
    return slice(int(numbers[0]), int(numbers[-1]) + 1)
