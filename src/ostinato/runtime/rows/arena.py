"""The column arrays that the rows of all partitions share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ostinato.kernels.rows.grouping import move, put
from ostinato.runtime.rows.longer_arrays import lengthened

Places = np.ndarray | slice  # arena rows of the rows of a batch


@dataclass(frozen=True)
class Moved:
    """Stretches of rows, one per key: where they lie, how long they are, and where they go."""

    source: np.ndarray
    lengths: np.ndarray
    target: np.ndarray

    def copy(self, old: np.ndarray, new: np.ndarray) -> None:
        move(old, self.source, self.lengths, self.target, new)


class Arena:
    """Named arrays of equal capacity. A column has data and, once it has met a null, a validity array."""

    def __init__(self) -> None:
        self.data: dict[str, np.ndarray] = {}
        self.valid: dict[str, np.ndarray | None] = {}
        self.capacity = 0
        self._width = 0

    @property
    def row_bytes(self) -> int:
        return self._width + sum(valid is not None for valid in self.valid.values())

    @property
    def most_row_bytes(self) -> int:
        """Where every column has met a null."""
        return self._width + len(self.valid)

    def declare(self, name: str, dtype: np.dtype | type, width: int = 0) -> None:
        self.data[name] = np.empty((self.capacity, width) if width else self.capacity, dtype)
        self.valid[name] = None
        self._width += _width(self.data[name])

    def drop(self, names: Sequence[str]) -> None:
        for name in names:
            self._width -= _width(self.data[name])
            del self.data[name], self.valid[name]

    def reserve(self, capacity: int) -> None:
        if capacity <= self.capacity:
            return
        for name, old in self.data.items():
            self.data[name] = lengthened(old, capacity)
            valid = self.valid[name]
            if valid is not None:
                self.valid[name] = lengthened(valid, capacity)
        self.capacity = capacity

    def become(self, places: Places, batch: dict[str, tuple[np.ndarray, np.ndarray | None]], capacity: int) -> None:
        """Nothing is kept: the arena holds the rows of a batch and no more."""
        for name, old in self.data.items():
            given, valid = batch.get(name, (None, None))
            fresh = np.empty((capacity, *old.shape[1:]), old.dtype) if given is None else _placed(given, places, capacity, old.dtype)
            self.data[name] = fresh
            self.valid[name] = None if valid is None or valid.all() else _placed(valid, places, capacity, np.dtype(np.bool_))
        self.capacity = capacity

    def merged(self, kept: Moved, places: Places, batch: dict[str, tuple[np.ndarray, np.ndarray | None]], capacity: int) -> None:
        """Fresh arrays with the rows that are kept and those of the batch. Memory that is written in the order of the batch, at one
        place per key, stays in the cache better than memory that is read key by key."""
        for name, old in self.data.items():
            given, given_valid = batch.get(name, (None, None))
            fresh = np.empty((capacity, *old.shape[1:]), old.dtype)
            kept.copy(old, fresh)
            if given is not None:
                put(fresh, places, given)
            self.data[name] = fresh
            self.valid[name] = self._merged_flags(self.valid[name], kept, given_valid, places, capacity)
        self.capacity = capacity

    @staticmethod
    def _merged_flags(old: np.ndarray | None, kept: Moved, given: np.ndarray | None, places: Places, capacity: int) -> np.ndarray | None:
        if old is None and (given is None or given.all()):
            return None
        flags = np.ones(capacity, np.bool_)
        if old is not None:
            kept.copy(old, flags)
        if given is not None:
            flags[places] = given
        return flags

    def rebuilt(self, kept: Moved, capacity: int) -> None:
        """The rows that are kept, in fresh arrays."""
        self.merged(kept, slice(0, 0), {}, capacity)

    def copy_rows(self, moved: Moved) -> None:
        """To places that do not overlap those they come from."""
        for name, data in self.data.items():
            moved.copy(data, data)
            valid = self.valid[name]
            if valid is not None:
                moved.copy(valid, valid)

    def write(self, name: str, places: Places, data: np.ndarray, valid: np.ndarray | None) -> None:
        put(self.data[name], places, data)
        known = self.valid[name]
        if known is None and valid is not None and not valid.all():
            known = self.valid[name] = np.ones(self.capacity, np.bool_)
        if known is not None:
            known[places] = True if valid is None else valid


def _width(data: np.ndarray) -> int:
    return data.itemsize * (data.shape[1] if data.ndim > 1 else 1)


def _placed(values: np.ndarray, places: Places, capacity: int, dtype: np.dtype) -> np.ndarray:
    if isinstance(places, slice) and values.flags.writeable and values.flags.c_contiguous and values.dtype == dtype:
        return values
    out = np.empty((capacity, *values.shape[1:]), dtype)
    put(out, places, values)
    return out
