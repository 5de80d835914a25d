"""What is asked of the arrays of a snapshot before anything reads them: a checksum can be computed by anybody, and kernels follow numbers
without looking. Every part of a session says what its own arrays must be, in these words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from ostinato.base.errors import StateError
from ostinato.kernels.output.state_links import count_chained, spread_owners
from ostinato.runtime.snapshots.snapshot import part_of

NOTHING = -1
LIMIT = 1 << 62  # of ordinals and counters: they can be added without leaving 64 bits
ANY = None  # in a shape: any length


@dataclass(frozen=True)
class HeldRows:
    """What the rest of the snapshot may refer to: the ordinals of retained rows per key, how many strings there are, and how many opaque
    values of each type."""

    base: np.ndarray
    end: np.ndarray
    texts: int
    values: Mapping[pa.DataType, int] = field(default_factory=dict)

    def bounds(self, keys: int) -> tuple[np.ndarray, np.ndarray]:
        """Of keys 0..keys-1: where their rows begin and end. Arrays per key grow ahead of the keys; those have no rows."""
        return _padded(self.base, keys), _padded(self.end, keys)


class StateCheck:
    """The arrays of one part of a snapshot."""

    def __init__(self, arrays: Mapping[str, np.ndarray], rows: HeldRows, part: str) -> None:
        self._arrays = dict(arrays)
        self.rows = rows
        self._part = part

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def __getitem__(self, name: str) -> np.ndarray:
        """An array that was looked at."""
        return self._arrays[name]

    def part(self, prefix: str) -> StateCheck:
        return StateCheck(part_of(self._arrays, prefix), self.rows, f"{self._part}.{prefix.rstrip('.')}")

    def require(self, holds: bool | np.bool_, what: str) -> None:
        if not holds:
            raise StateError(
                "the snapshot is not valid", detail=f"{self._part}: {what} expected", hint="restore one that a session of this query made"
            )

    def array(self, name: str, dtype: type[np.generic], *shape: int | None) -> np.ndarray:
        """The array of that name, type and shape."""
        self.require(name in self._arrays, f"an array {name}")
        array = self._arrays[name]
        fits = array.ndim == len(shape) and all(want is ANY or want == got for want, got in zip(shape, array.shape, strict=True))
        self.require(array.dtype == np.dtype(dtype) and fits, f"{name} as {np.dtype(dtype).name} of shape {list(shape)}")
        if dtype is np.bool_:
            self.require(not (array.view(np.uint8) > 1).any(), f"truth values in {name}")
        return array

    def flags(self, name: str, *shape: int | None) -> np.ndarray:
        """Zeros and ones as bytes."""
        array = self.array(name, np.uint8, *shape)
        self.require(not (array > 1).any(), f"zeros and ones in {name}")
        return array

    def between(self, values: np.ndarray, low: int | np.ndarray, high: int | np.ndarray, what: str) -> None:
        """low <= value <= high."""
        self.require(bool(((values >= low) & (values <= high)).all()), what)

    def index(self, values: np.ndarray, below: int, what: str, or_nothing: bool = False) -> None:
        self.between(values, NOTHING if or_nothing else 0, below - 1, what)

    def counters(self, name: str, count: int) -> np.ndarray:
        array = self.array(name, np.int64, count)
        self.between(array, -LIMIT, LIMIT, f"numbers of reasonable size in {name}")
        return array

    def ascending(self, values: np.ndarray, what: str) -> None:
        self.require(bool((values[1:] > values[:-1]).all()), what)

    def offsets(self, values: np.ndarray, total: int, what: str) -> None:
        """Where stretches end that lie side by side."""
        held = np.concatenate([[0], values])
        self.require(bool((held[1:] >= held[:-1]).all()) and int(held[-1]) == total, what)

    def read_up_to(self, name: str) -> np.ndarray:
        """Per key the next unread ordinal: one of its rows, or the next to come."""
        read = self.array(name, np.int64, ANY)
        longer = _padded(read, len(self.rows.base))
        base, end = self.rows.bounds(len(longer))
        self.between(longer, base, end, f"ordinals of retained rows in {name}")
        return read

    def ordinals_of(self, keys: np.ndarray, ordinals: np.ndarray, what: str) -> None:
        """Rows of these keys, which are known to be in range."""
        base, end = self.rows.bounds(int(keys.max(initial=-1)) + 1)
        self.between(ordinals, base[keys], end[keys] - 1, what)

    def nodes(self, links: np.ndarray, ordinals: np.ndarray, owner: np.ndarray, events: np.ndarray, what: str) -> None:
        """Nodes lead to earlier ones; those with an owner, or reached from such, are rows of its key where they are `events`."""
        self.require(bool(spread_owners(np.ascontiguousarray(links), owner)), f"{what} that lead to earlier ones of the same key")
        owned = np.flatnonzero((owner != NOTHING) & events)
        self.ordinals_of(owner[owned], ordinals[owned], f"{what} at retained rows")

    def chains(self, heads: np.ndarray, following: np.ndarray, members: int | None, what: str) -> np.ndarray:
        """Lists that end, of which no two share a member, with so many members (None: any number); returns the list of every member,
        NOTHING for others."""
        holder = np.full(len(following), NOTHING, np.int64)
        found = count_chained(np.ascontiguousarray(heads), np.ascontiguousarray(following), holder)
        self.require(found >= 0 if members is None else found == members, f"{what} that are lists")
        return holder


def _padded(values: np.ndarray, length: int) -> np.ndarray:
    if length <= len(values):
        return values if length == len(values) else values[:length]
    return np.concatenate([values, np.zeros(length - len(values), values.dtype)])
