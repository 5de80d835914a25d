"""The column arrays that the rows of all partitions share."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ostinato.kernels.grouping import gather, merge, ranges

# per key: old offset, old length, where its rows of the batch begin (one more than keys), the order of the batch, new offset
Layout = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None, np.ndarray]


class _Places:
    """Arena indices of a merge, for columns that the kernel does not handle; found when first asked for."""

    def __init__(self, layout: Layout) -> None:
        self._old_offset, self._old_length, begin, self.order, self._offset = layout
        self._counts = np.diff(begin)

    @cached_property
    def source(self) -> np.ndarray:
        return ranges(self._old_offset, self._old_length)

    @cached_property
    def kept(self) -> np.ndarray:
        return ranges(self._offset, self._old_length)

    @cached_property
    def added(self) -> np.ndarray:
        return ranges(self._offset + self._old_length, self._counts)


class Arena:
    """Named arrays of equal capacity. A column has data and, once it has met a null, a validity array."""

    def __init__(self) -> None:
        self.data: dict[str, np.ndarray] = {}
        self.valid: dict[str, np.ndarray | None] = {}
        self.capacity = 0

    def declare(self, name: str, dtype: np.dtype | type, width: int = 0) -> None:
        self.data[name] = np.empty((self.capacity, width) if width else self.capacity, dtype)
        self.valid[name] = None

    def adopt(self, name: str, data: np.ndarray, valid: np.ndarray | None) -> None:
        self.data[name] = data
        self.valid[name] = valid

    def reserve(self, capacity: int) -> None:
        if capacity <= self.capacity:
            return
        for name, old in self.data.items():
            self.data[name] = _lengthened(old, capacity)
            valid = self.valid[name]
            if valid is not None:
                self.valid[name] = _lengthened(valid, capacity)
        self.capacity = capacity

    def rebuilt(self, source: np.ndarray, target: np.ndarray, capacity: int) -> None:
        """Move rows `source` to `target` in fresh arrays."""
        for name, old in self.data.items():
            self.data[name] = _moved(old, source, target, capacity)
            valid = self.valid[name]
            if valid is not None:
                self.valid[name] = _moved(valid, source, target, capacity)
        self.capacity = capacity

    def merged(self, layout: Layout, batch: dict[str, tuple[np.ndarray, np.ndarray | None]], capacity: int) -> None:
        """Fresh arrays in which every key's retained rows are followed by its rows of the batch."""
        places = _Places(layout)
        for name, old in self.data.items():
            given, given_valid = batch.get(name, (None, None))
            if given is not None and old.ndim == 1 and old.dtype.itemsize == given.dtype.itemsize == 8:
                self.data[name] = merge(old, given, layout, capacity)
            else:
                self.data[name] = _moved(old, places.source, places.kept, capacity)
                if given is not None:
                    self.data[name][places.added] = ordered(given, layout[3])
            self.valid[name] = self._merged_flags(self.valid[name], given_valid, places, capacity)
        self.capacity = capacity

    @staticmethod
    def _merged_flags(old: np.ndarray | None, given: np.ndarray | None, places: _Places, capacity: int) -> np.ndarray | None:
        if old is None and (given is None or given.all()):
            return None
        flags = np.ones(capacity, np.bool_)
        if old is not None:
            flags[places.kept] = old[places.source]
        if given is not None:
            flags[places.added] = ordered(given, places.order)
        return flags

    def copy_rows(self, source: np.ndarray, target: np.ndarray) -> None:
        for name, data in self.data.items():
            data[target] = data[source]
            valid = self.valid[name]
            if valid is not None:
                valid[target] = valid[source]

    def write(self, name: str, at: np.ndarray | slice, data: np.ndarray, valid: np.ndarray | None) -> None:
        self.data[name][at] = data
        known = self.valid[name]
        if known is None and valid is not None and not valid.all():
            known = self.valid[name] = np.ones(self.capacity, np.bool_)
        if known is not None:
            known[at] = True if valid is None else valid


def _lengthened(old: np.ndarray, capacity: int) -> np.ndarray:
    new = np.empty((capacity, *old.shape[1:]), old.dtype)
    new[: len(old)] = old
    return new


def _moved(old: np.ndarray, source: np.ndarray, target: np.ndarray, capacity: int) -> np.ndarray:
    new = np.empty((capacity, *old.shape[1:]), old.dtype)
    new[target] = old[source]
    return new


def ordered(values: np.ndarray | None, order: np.ndarray | None) -> np.ndarray | None:
    """The rows in another order. Arrow's buffers are read-only, a type of its own for compiled kernels: those are copied."""
    if values is None:
        return None
    if order is not None:
        return gather(values, order)
    return values if values.flags.writeable and values.flags.c_contiguous else values.copy()
