"""The column arrays that the rows of all partitions share.

Columns of which few rows are read may wait as they came: where the arena holds the rows of one batch alone, it knows which row of the
batch stands at which place, and their values are taken from the batch. What is still needed of them is put into the arena when the rows
that nobody needs are gone (`settle`), so that nothing of the batch is referred to afterwards."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ostinato.kernels.rows.grouping import move, put, ranges, taken
from ostinato.runtime.rows.array_growth import lengthened
from ostinato.runtime.workers import Workers

LONG = 1 << 16  # rows for which another thread is woken
MANY, SEVERAL = 1 << 12, 2  # rows, columns: for fewer, nothing is gained by waiting
NO_ROWS = np.empty(0, np.int32)
STRETCH = 1 << 15  # rows that one thread puts where they belong at a time
Places = np.ndarray | slice  # arena rows of the rows of a batch
Put = tuple[np.ndarray, np.ndarray]  # an array, and the values of a batch that belong there


@dataclass(frozen=True)
class Moved:
    """Stretches of rows, one per key: where they lie, how long they are, and where they go."""

    source: np.ndarray
    lengths: np.ndarray
    target: np.ndarray

    def copy(self, old: np.ndarray, new: np.ndarray) -> None:
        if len(self.source) == 1:  # a slice costs less than the call of a kernel
            source, length, target = int(self.source[0]), int(self.lengths[0]), int(self.target[0])
            new[target : target + length] = old[source : source + length]
        else:
            move(old, self.source, self.lengths, self.target, new)


class Arena:
    """Named arrays of equal capacity. A column has data and, once it has met a null, a validity array."""

    def __init__(self) -> None:
        self._data: dict[str, np.ndarray] = {}
        self.valid: dict[str, np.ndarray | None] = {}
        self.capacity = 0
        self._width = 0
        self._patient: set[str] = set()  # columns that may wait
        self.derived: set[str] = set()  # columns that follow from others: they are not part of a snapshot
        self._waiting: dict[str, np.ndarray] = {}  # those that do, in the order of the batch
        self._rows = NO_ROWS  # of that batch, which stands at each place
        self.workers = Workers()  # share the columns of a large batch

    @property
    def data(self) -> dict[str, np.ndarray]:
        """All columns."""
        for name in tuple(self._waiting):
            self.column(name)
        return self._data

    def column(self, name: str) -> np.ndarray:
        """The values at all places."""
        if name in self._waiting:
            self._data[name] = taken(self._waiting.pop(name), self._rows)
        return self._data[name]

    def taken(self, name: str, places: np.ndarray) -> np.ndarray:
        """The values at some places."""
        if name in self._waiting:
            return self._waiting[name].take(self._rows.take(places))
        return self._data[name].take(places, axis=0)

    @property
    def saved(self) -> dict[str, np.ndarray]:
        """What a snapshot holds."""
        return {name: data for name, data in self.data.items() if name not in self.derived}

    @property
    def waits(self) -> bool:
        return bool(self._waiting)

    def settle(self, places: np.ndarray) -> None:
        """No columns wait any more; of those that did, only these places are known from now on."""
        for name, given in self._waiting.items():
            self._data[name] = np.empty(self.capacity, given.dtype)
            self._data[name][places] = given.take(self._rows.take(places))
        self._waiting, self._rows = {}, NO_ROWS

    @property
    def row_bytes(self) -> int:
        return self._width + sum(valid is not None for valid in self.valid.values())

    @property
    def most_row_bytes(self) -> int:
        """Where every column has met a null."""
        return self._width + len(self.valid)

    def declare(self, name: str, dtype: np.dtype | type, width: int = 0, patient: bool = False) -> None:
        self._data[name] = np.empty((self.capacity, width) if width else self.capacity, dtype)
        self.valid[name] = None
        self._width += _width(self._data[name])
        if patient:
            self._patient.add(name)

    def declare_derived(self, name: str, width: int) -> None:
        """A table of numbers that follow from the rest."""
        self._data[name] = np.empty((self.capacity, width), np.int64)
        self.valid[name] = None
        self._width += _width(self._data[name])
        self.derived.add(name)

    def drop(self, names: Sequence[str]) -> None:
        for name in names:
            self._width -= _width(self.column(name))
            del self._data[name], self.valid[name]
            self._patient.discard(name)
            self.derived.discard(name)

    def extend(self, capacity: int) -> None:
        """Room for more rows behind those that there are, which keep their places: memory that nobody writes to costs nothing, and so
        there may be much more of it."""
        for name in tuple(self.data):
            valid = self.valid[name]
            self._data[name] = lengthened(self._data[name], capacity)
            self.valid[name] = None if valid is None else lengthened(valid, capacity)
        self.capacity = capacity

    def lets_wait(self, batch: Collection[str], rows: int) -> bool:
        """Whether columns of a batch of so many rows may wait."""
        return rows >= MANY and len(self._patient.intersection(batch)) >= SEVERAL

    def become(
        self,
        places: Places,
        batch: dict[str, tuple[np.ndarray, np.ndarray | None]],
        capacity: int,
        rows: np.ndarray | None = None,
    ) -> None:
        """Nothing is kept: the arena holds the rows of a batch and no more. `rows`: which of them stands at each place, where columns
        may wait."""
        self._waiting, self._rows = {}, NO_ROWS if rows is None else rows
        puts: list[Put] = []
        for name, old in self._data.items():
            given, valid = batch.get(name, (None, None))
            self.valid[name] = None if valid is None or valid.all() else _placed(valid, places, capacity, np.dtype(np.bool_), puts)
            if given is None:
                self._data[name] = np.empty((capacity, *old.shape[1:]), old.dtype)
            elif rows is not None and name in self._patient and given.dtype == old.dtype:
                self._waiting[name], self._data[name] = given, old[:0]
            else:
                self._data[name] = _placed(given, places, capacity, old.dtype, puts)
        self._put(puts, places, capacity)
        self.capacity = capacity

    def merged(self, kept: Moved, places: Places, batch: dict[str, tuple[np.ndarray, np.ndarray | None]], capacity: int) -> None:
        """Fresh arrays with the rows that are kept and those of the batch. Memory that is written in the order of the batch, at one
        place per key, stays in the cache better than memory that is read key by key."""
        puts: list[Put] = []
        for name in self._data:
            given, given_valid = batch.get(name, (None, None))
            self._data[name] = self._kept(name, kept, capacity)
            if given is not None:
                puts.append((self._data[name], given))
            self.valid[name] = self._merged_flags(self.valid[name], kept, given_valid, places, capacity)
        self._put(puts, places, capacity)
        self._waiting, self._rows = {}, NO_ROWS
        self.capacity = capacity

    def _put(self, puts: Sequence[Put], places: Places, rows: int) -> None:
        """Values go to their places: where they are many, stretches of them beside one another."""
        if self.workers.most == 1 or rows < LONG:
            for out, values in puts:
                put(out, places, values)
            return
        pieces = [(*one, slice(low, low + STRETCH)) for one in puts for low in range(0, len(one[1]), STRETCH)]

        def work(number: int) -> None:
            out, values, own = pieces[number]
            there = slice(places.start + own.start, min(places.start + own.stop, places.stop)) if isinstance(places, slice) else places[own]
            put(out, there, values[own])

        self.workers.each(len(pieces), work)

    def _kept(self, name: str, kept: Moved, capacity: int) -> np.ndarray:
        """A fresh array with the rows that are kept."""
        old = self._data[name]
        fresh = np.empty((capacity, *old.shape[1:]), old.dtype)
        if name in self._waiting:
            fresh[ranges(kept.target, kept.lengths)] = self.taken(name, ranges(kept.source, kept.lengths))
        else:
            kept.copy(old, fresh)
        return fresh

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

    def write(self, batch: dict[str, tuple[np.ndarray, np.ndarray | None]], places: Places) -> None:
        data = self.data
        for name, (values, valid) in batch.items():
            if isinstance(places, slice):
                data[name][places] = values
            else:
                put(data[name], places, values)
            if valid is not None or self.valid[name] is not None:
                self._write_flags(name, places, valid)

    def _write_flags(self, name: str, places: Places, valid: np.ndarray | None) -> None:
        known = self.valid[name]
        if known is None and valid is not None and not valid.all():
            known = self.valid[name] = np.ones(self.capacity, np.bool_)
        if known is not None:
            known[places] = True if valid is None else valid


def _width(data: np.ndarray) -> int:
    return data.itemsize * (data.shape[1] if data.ndim > 1 else 1)


def _placed(values: np.ndarray, places: Places, capacity: int, dtype: np.dtype, puts: list[Put]) -> np.ndarray:
    """An array for these values, which `puts` tells to be put there."""
    if isinstance(places, slice) and values.flags.writeable and values.flags.c_contiguous and values.dtype == dtype:
        return values
    out = np.empty((capacity, *values.shape[1:]), dtype)
    puts.append((out, values))
    return out
